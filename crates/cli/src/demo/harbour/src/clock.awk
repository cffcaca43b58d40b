# Times of day as minutes, and heights as text.

function minutes(time,    part) {
    split(time, part, ":")
    return part[1] * 60 + part[2]
}

function metres(height) {
    return sprintf("%.2f", height)
}

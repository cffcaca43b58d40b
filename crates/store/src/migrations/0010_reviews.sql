-- Reviews of a feature are counted: the log tells of each.
UPDATE features SET feature_state = json_set(feature_state, '$.reviews', (
    SELECT count(*) FROM runs r JOIN events e ON e.subject = r.id || '/' || features.feature
    WHERE r.seq = features.run AND (
        e.kind IN ('verified', 'checked')
        OR (e.kind = 'feature-blocked'
            AND json_extract(e.body, '$.block.reason') IN ('review', 'silent_revert')))
));

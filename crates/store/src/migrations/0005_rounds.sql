-- The gates of a commit run side by side: which passed and which run takes the place of the index of one.
-- What the index said is told by the log: gates that passed since the commit, or since the merge of it.
CREATE TEMP TABLE rounds AS
SELECT
    f.run, f.feature, json_type(f.feature_state, '$.state.gate') IS NULL AS merged,
    (SELECT json_group_array(json_extract(e.body, '$.gate') ORDER BY e.seq)
     FROM events e
     WHERE e.subject = r.id || '/' || f.feature AND e.kind = 'gate-passed' AND e.seq > coalesce(
        (SELECT max(b.seq) FROM events b WHERE b.subject = e.subject AND b.kind = CASE
            WHEN json_type(f.feature_state, '$.state.gate') IS NULL THEN 'merge-prepared'
            ELSE 'committed' END), 0)
    ) AS passed,
    (SELECT json_group_object(
        json_extract(j.what, '$.gate'), r.id || '-' || j.number)
     FROM jobs j
     WHERE j.run = f.run AND j.purpose = 'gate' AND r.id || '-' || j.number = coalesce(
        json_extract(f.feature_state, '$.state.step.job'),
        json_extract(f.feature_state, '$.state.step.step.job'))
    ) AS running
FROM features f JOIN runs r ON r.seq = f.run
WHERE json_type(f.feature_state, '$.state.gate') IS NOT NULL
    OR json_type(f.feature_state, '$.state.step.gate') IS NOT NULL;
UPDATE features SET feature_state = (
    SELECT CASE
        WHEN t.merged THEN json_set(
            json_remove(feature_state, '$.state.step.gate', '$.state.step.step'),
            '$.state.step.round', json_object('passed', json(t.passed), 'running', json(t.running),
                'retried', json_object(), 'failed', json_array()))
        ELSE json_set(
            json_remove(feature_state, '$.state.gate', '$.state.step'),
            '$.state.round', json_object('passed', json(t.passed), 'running', json(t.running),
                'retried', json_object(), 'failed', json_array()))
        END
    FROM rounds t WHERE t.run = features.run AND t.feature = features.feature)
WHERE EXISTS (SELECT 1 FROM rounds t WHERE t.run = features.run AND t.feature = features.feature);
DROP TABLE rounds;

-- How many verdicts of a shadow are alike. Zero rows: no verdict yet, or forgotten.
--   $1 shadow
SELECT c.currency, c.band_minor, c.before_outcome, c.before_rule, c.after_outcome, c.after_rule,
       sum(c.times)::bigint AS times
  FROM (SELECT currency, band_minor, before_outcome, before_rule, after_outcome, after_rule, times
          FROM countersign.shadow_count WHERE shadow_id = $1
        UNION ALL
        -- Decided after its end, and counted before that was written: a few seconds' at most.
        SELECT v.currency, v.band_minor, v.before_outcome, v.before_rule, v.after_outcome, v.after_rule, -1
          FROM countersign.policy_shadow s
          JOIN countersign.shadow_verdict v
            ON v.shadow_id = s.id AND v.decided_at >= countersign.shadow_end(s)
         WHERE s.id = $1) c
 GROUP BY c.currency, c.band_minor, c.before_outcome, c.before_rule, c.after_outcome, c.after_rule
HAVING sum(c.times) > 0;

-- How many verdicts of a shadow are alike. Zero rows: no verdict yet.
--   $1 shadow
SELECT v.currency, v.band_minor, v.before_outcome, v.before_rule, v.after_outcome, v.after_rule,
       count(*) AS times
  FROM countersign.shadow_verdict v WHERE v.shadow_id = $1
 GROUP BY v.currency, v.band_minor, v.before_outcome, v.before_rule, v.after_outcome, v.after_rule;

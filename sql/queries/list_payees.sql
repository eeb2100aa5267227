-- A customer's payees that were not removed, oldest first. Zero rows means that there are none.
--   $1 customer_id, $2 currency in which the sum that is left is told
WITH clock AS MATERIALIZED (SELECT clock_timestamp() AS now),
the_policy AS MATERIALIZED (
    SELECT time_zone, velocity_window_s, daily_window FROM countersign.policy
     WHERE active_from <= (SELECT now FROM clock) ORDER BY version DESC LIMIT 1)
SELECT clock.now, (clock.now AT TIME ZONE the_policy.time_zone)::date AS bank_day,
       c.contact_hold_until, c.recovered_at, p.account, p.name, p.alias, state.*
  FROM clock CROSS JOIN the_policy
  JOIN countersign.customer c ON c.customer_id = $1
  JOIN countersign.payee p ON p.subject_id = c.subject_id AND p.status = 'active'
       AND NOT countersign.confirmation_has_lapsed(p.action_id, clock.now)
  CROSS JOIN LATERAL countersign.policy_state(c.subject_id, p.account, $2, clock.now,
       (clock.now AT TIME ZONE the_policy.time_zone)::date, the_policy.velocity_window_s,
       the_policy.daily_window) state
 ORDER BY p.confirmed_at, p.id;

-- Fills a scratch database with a million records and prints how the auditors' five questions are answered.
-- Run it as a superuser on a database that countersign migrate has made, and throw that away afterwards:
--   psql -d scratch -f sql/audit_plans.sql
-- Triggers and foreign keys rest meanwhile: nothing of this is evidence. docs/auditor-queries.md shows what it prints.
\set ON_ERROR_STOP 1
\pset pager off
SET search_path = countersign, public;
SET client_min_messages = warning;
-- As on a disk that seeks: the default is of disks that turn.
SET random_page_cost = 1.1;

CREATE TEMP TABLE filled AS
SELECT n, gen_random_uuid() AS action_id, (n * 7919) % 20000 AS customer, n % 40000 AS credential,
       clock_timestamp() + n * interval '20 seconds' AS at,
       CASE WHEN n % 50 = 0 THEN 2 ELSE 1 END AS policy, n % 20 = 0 AS is_held, n % 25 <> 0 AS is_executed
  FROM generate_series(1, 253000) AS n;
CREATE TEMP TABLE subjects AS SELECT n AS customer, gen_random_uuid() AS subject_id FROM generate_series(0, 19999) AS n;
CREATE TEMP TABLE keys AS SELECT n AS credential, gen_random_uuid() AS credential_id FROM generate_series(0, 39999) AS n;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['evidence', 'customer', 'action', 'decision', 'receipt', 'policy', 'log_leaf'] LOOP
        EXECUTE format('ALTER TABLE countersign.%I DISABLE TRIGGER ALL', name);
    END LOOP;
END $$;

INSERT INTO policy (version, document, time_zone, active_from)
SELECT 2, document || ' ', time_zone, active_from FROM policy WHERE version = 1 ON CONFLICT DO NOTHING;
INSERT INTO customer (customer_id, subject_id) SELECT 'c-' || customer, subject_id FROM subjects;
INSERT INTO action (id, subject_id, client_id, external_id, kind, amount, amount_minor, currency, debtor_account,
       payee_name, payee_account, reference, end_to_end_id, policy_version, "authorization", execution,
       hold_until, hold_rule, created_at, expires_at, seq, head, last_evidence_id)
SELECT f.action_id, s.subject_id, gen_random_uuid(), 'order-' || f.n, 'transfer', '1.00', 100, 'EUR', 'DE1', 'Somebody',
       'DE2', '', '', f.policy, 'approved', CASE WHEN f.is_executed THEN 'executed' ELSE 'refused' END,
       CASE WHEN f.is_held THEN f.at END, CASE WHEN f.is_held THEN 'amount_hold' END, f.at, f.at, 4, '',
       gen_random_uuid()
  FROM filled f JOIN subjects s USING (customer);
INSERT INTO evidence (id, kind, action_id, subject_id, credential_id, leaf, body_commit)
SELECT overlay(uuid7_floor(f.at + k.place * interval '1 second')::text
               PLACING '7' || substr(gen_random_uuid()::text, 16) FROM 15)::uuid,
       k.kind, f.action_id, s.subject_id, CASE WHEN k.place = 3 THEN c.credential_id END,
       convert_to(format('{"action":"%s","at":"%s","body":"%s","kind":"%s","log":"bank.example","outcome":"%s",%s"v":"countersign/leaf/1"}',
           f.action_id, f.at, repeat('0', 64), k.kind, k.outcome,
           CASE WHEN k.place = 3 THEN '"policy":"' || encode(p.digest, 'hex') || '",' ELSE '' END), 'UTF8'),
       sha256('')
  FROM filled f JOIN subjects s USING (customer) JOIN keys c USING (credential)
  JOIN policy p ON p.version = f.policy
 CROSS JOIN (VALUES (1, 'action.created', 'pending'), (2, 'challenge.issued', 'issued'),
                    (3, 'action.approved', 'approved'), (4, 'order.executed', 'executed'))
            AS k (place, kind, outcome)
 WHERE k.place < 4 OR f.is_executed
 ORDER BY f.n, k.place;
INSERT INTO decision (action_id, outcome, challenge_id, credential_id, message_digest, assertion_digest, execution,
       hold_until, hold_rule, hold_end, evidence_id, leaf_hash, decided_at)
SELECT f.action_id, 'approved', gen_random_uuid(), c.credential_id, sha256(f.action_id::text::bytea), sha256(''),
       'ready', CASE WHEN f.is_held THEN f.at END, CASE WHEN f.is_held THEN 'amount_hold' END,
       CASE WHEN f.is_held THEN 'release' END, e.id, e.leaf_hash, f.at
  FROM filled f JOIN keys c USING (credential)
  JOIN evidence e ON e.action_id = f.action_id AND e.kind = 'action.approved';
INSERT INTO receipt (action_id, status, reference, raw, evidence_id, received_at)
SELECT f.action_id, 'executed', 'core-' || f.n, '', e.id, f.at
  FROM filled f JOIN evidence e ON e.action_id = f.action_id AND e.kind = 'order.executed';
INSERT INTO log_leaf (position, evidence_id, leaf_hash)
SELECT row_number() OVER (ORDER BY id) - 1, id, leaf_hash FROM evidence;
ANALYZE evidence, customer, action, decision, receipt, policy, log_leaf;

SELECT count(*) AS records FROM evidence;
SELECT 'c-' || customer AS customer_id FROM subjects WHERE customer = 4711 \gset
SELECT credential_id FROM keys WHERE credential = 4711 \gset
SELECT min(at) + interval '10 days' AS from, min(at) + interval '11 days' AS until FROM filled \gset

\echo
\echo '1. everything of a customer in a period'
EXPLAIN (ANALYZE, COSTS off, SUMMARY on, TIMING off, BUFFERS)
SELECT id, kind, outcome FROM audit_of_customer(:'customer_id', :'from', :'until'::timestamptz + interval '30 days');
\echo
\echo '2. everything that a credential has signed'
EXPLAIN (ANALYZE, COSTS off, SUMMARY on, TIMING off, BUFFERS)
SELECT id, kind, outcome FROM audit_of_credential(:'credential_id');
\echo
\echo '3. all approvals under a version of the policy'
EXPLAIN (ANALYZE, COSTS off, SUMMARY on, TIMING off, BUFFERS) SELECT id, action_id FROM audit_of_policy(2);
\echo
\echo '4. approvals of a day that were executed, with a hold'
EXPLAIN (ANALYZE, COSTS off, SUMMARY on, TIMING off, BUFFERS) SELECT * FROM audit_executed(true, :'from', :'until');
\echo
\echo '4. and without one'
EXPLAIN (ANALYZE, COSTS off, SUMMARY on, TIMING off, BUFFERS) SELECT * FROM audit_executed(false, :'from', :'until');
\echo
\echo '5. approved and not executed on that day, and the reverse'
EXPLAIN (ANALYZE, COSTS off, SUMMARY on, TIMING off, BUFFERS) SELECT * FROM audit_mismatched(:'from', :'until');

\echo
\echo 'the filters of GET /v1/evidence, each by itself: a page of 100'
\timing on
SELECT count(*) AS customer FROM find_evidence(jsonb_build_object('customer_id', :'customer_id'), NULL, 101);
SELECT count(*) AS external_id FROM find_evidence('{"external_id": "order-4711"}', NULL, 101);
SELECT count(*) AS outcome FROM find_evidence('{"outcome": "approved"}', NULL, 101);
SELECT count(*) AS rare_outcome FROM find_evidence('{"outcome": "wrong_signature"}', NULL, 101);
SELECT count(*) AS policy FROM find_evidence('{"policy_version": "2"}', NULL, 101);
SELECT count(*) AS with_hold FROM find_evidence('{"hold": "with"}', NULL, 101);
SELECT count(*) AS rare_hold FROM find_evidence('{"hold": "payee_cooling_off"}', NULL, 101);
SELECT count(*) AS without_hold FROM find_evidence('{"hold": "without", "kind": "action.approved"}', NULL, 101);
SELECT count(*) AS credential FROM find_evidence(jsonb_build_object('credential_id', :'credential_id'), NULL, 101);
SELECT count(*) AS time FROM find_evidence(jsonb_build_object('from', :'from', 'to', :'until'), NULL, 101);

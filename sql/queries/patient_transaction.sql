-- The first batch holds all the evidence there is: this transaction may take longer than one of the service.
SELECT set_config('statement_timeout', '10min', true),
       set_config('idle_in_transaction_session_timeout', '5min', true),
       set_config('lock_timeout', '1s', true);

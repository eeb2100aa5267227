-- Policy version 1: defaults for a start, each with its source in docs/decisions. Lengths of time are
-- in seconds, amounts are decimal strings in the currency they stand under.

SET ROLE countersign_owner;
SET search_path = countersign, pg_temp;

INSERT INTO policy (version, time_zone, active_from, document)
VALUES (1, 'Europe/Berlin', 'epoch', convert_to($policy${
  "version": "countersign/policy/1",
  "time_zone": "Europe/Berlin",
  "home_currency": "EUR",
  "challenge_lifetime_s": 300,
  "action_lifetime_s": 900,
  "open_challenges_max": 10,
  "attempts": {"per_challenge": 3, "per_action": 5, "per_customer": 5, "lock_s": 1800},
  "payee": {"cooling_off_s": 86400, "mode": "hold", "new_period_s": 345600},
  "new_credential_cooling_off_s": {"transfer": 0, "new_payee": 43200, "contact_change": 43200},
  "contact_change_hold_s": 86400,
  "factors": {
    "transfer": ["device_key", "passkey"],
    "new_payee": ["device_key", "passkey"],
    "contact_change": ["device_key", "passkey"]
  },
  "currencies": {
    "AUD": {"single_max": "80000.00", "daily_max": "160000.00", "first_transfer_max": "1600.00", "new_payee_sum_max": "8000.00"},
    "CAD": {"single_max": "75000.00", "daily_max": "150000.00", "first_transfer_max": "1500.00", "new_payee_sum_max": "7500.00"},
    "CHF": {"single_max": "50000.00", "daily_max": "100000.00", "first_transfer_max": "1000.00", "new_payee_sum_max": "5000.00"},
    "CZK": {"single_max": "1250000.00", "daily_max": "2500000.00", "first_transfer_max": "25000.00", "new_payee_sum_max": "125000.00"},
    "DKK": {"single_max": "375000.00", "daily_max": "750000.00", "first_transfer_max": "7500.00", "new_payee_sum_max": "37500.00"},
    "EUR": {"single_max": "50000.00", "daily_max": "100000.00", "first_transfer_max": "1000.00", "new_payee_sum_max": "5000.00"},
    "GBP": {"single_max": "50000.00", "daily_max": "100000.00", "first_transfer_max": "1000.00", "new_payee_sum_max": "5000.00"},
    "HUF": {"single_max": "20000000.00", "daily_max": "40000000.00", "first_transfer_max": "400000.00", "new_payee_sum_max": "2000000.00"},
    "JPY": {"single_max": "8000000", "daily_max": "16000000", "first_transfer_max": "160000", "new_payee_sum_max": "800000"},
    "KWD": {"single_max": "16000.000", "daily_max": "32000.000", "first_transfer_max": "320.000", "new_payee_sum_max": "1600.000"},
    "NOK": {"single_max": "575000.00", "daily_max": "1150000.00", "first_transfer_max": "11500.00", "new_payee_sum_max": "57500.00"},
    "PLN": {"single_max": "210000.00", "daily_max": "420000.00", "first_transfer_max": "4200.00", "new_payee_sum_max": "21000.00"},
    "RON": {"single_max": "250000.00", "daily_max": "500000.00", "first_transfer_max": "5000.00", "new_payee_sum_max": "25000.00"},
    "SEK": {"single_max": "560000.00", "daily_max": "1120000.00", "first_transfer_max": "11200.00", "new_payee_sum_max": "56000.00"},
    "SGD": {"single_max": "70000.00", "daily_max": "140000.00", "first_transfer_max": "1400.00", "new_payee_sum_max": "7000.00"},
    "USD": {"single_max": "50000.00", "daily_max": "100000.00", "first_transfer_max": "1000.00", "new_payee_sum_max": "5000.00"}
  }
}
$policy$, 'UTF8'));
RESET ROLE;

-- What every session relies on when it reads the server's text: a script, run once per connection.
SET TimeZone = 'UTC';
SET DateStyle = 'ISO, YMD';
SET bytea_output = 'hex';
SET standard_conforming_strings = on;

-- Changes of one workspace, in the words of every database (statement.ts). ?1 is the binding. Days of people come with their e-mails, and only those
-- of people whom the ledger knows are kept.

-- name: open
INSERT INTO @intent (binding, data) SELECT CAST(?1 AS BIGINT), data FROM @given(data) WHERE @may RETURNING id;

-- name: close
DELETE FROM @intent WHERE @may AND binding = ?1 AND id = ?2 RETURNING id;

-- name: append
INSERT INTO @history (binding, at, scope, data) SELECT CAST(?1 AS BIGINT), at, scope, data FROM @given(at, scope, data) WHERE @may;

-- A pause is of the workspace, ?1, at whatever address.
-- name: endPause
DELETE FROM @pause WHERE workspace = ?1;

-- name: pause
INSERT INTO @pause (workspace, data) SELECT workspace, data FROM @given(workspace, data) WHERE @may;

-- name: dropRuns
DELETE FROM @run_use WHERE binding = ?1 AND day >= ?2 AND day < ?3 AND scope = ?4;

-- name: addRuns
INSERT INTO @run_use (binding, day, scope, model, mode, messages, cents)
SELECT CAST(?1 AS BIGINT), day, scope, model, mode, messages, cents FROM @given(day, scope, model, mode, messages, cents) WHERE @may;

-- name: beginCycle
UPDATE @person SET highest = 0 WHERE binding = ?1;

-- Each person's highest figure of the cycle.
-- name: raise
INSERT INTO @person (binding, email, highest, last_day)
SELECT CAST(?1 AS BIGINT), email, highest, last_day FROM @given(email, highest, last_day) WHERE @may
ON CONFLICT (binding, email) DO UPDATE SET highest = excluded.highest, last_day = excluded.last_day;

-- Makes people known until this day at least.
-- name: see
INSERT INTO @person (binding, email, highest, last_day)
SELECT CAST(?1 AS BIGINT), email, highest, last_day FROM @given(email, highest, last_day) WHERE @may
ON CONFLICT (binding, email) DO UPDATE SET last_day = @greatest(person.last_day, excluded.last_day);

-- What the service has told of a day stays.
-- name: addIncreases
INSERT INTO @person_use (binding, person, day, cents, told) SELECT CAST(?1 AS BIGINT), person.id, given.day, given.cents, false
FROM @given(email, day, cents) JOIN @person ON person.binding = ?1 AND person.email = given.email WHERE @may
ON CONFLICT (binding, day, person) DO UPDATE SET cents = @least(person_use.cents + excluded.cents, @most) WHERE NOT person_use.told;

-- name: addReading
INSERT INTO @use_reading (binding, at, cents) SELECT CAST(?1 AS BIGINT), at, cents FROM @given(at, cents) WHERE @may
ON CONFLICT (binding, at) DO UPDATE SET cents = excluded.cents;

-- name: dropReadings
DELETE FROM @use_reading WHERE binding = ?1 AND at < ?2;

-- name: dropAddOnUse
DELETE FROM @add_on_use WHERE binding = ?1 AND day >= ?2 AND day < ?3;

-- name: addAddOnUse
INSERT INTO @add_on_use (binding, person, day, model, cents, add_on_cents)
SELECT CAST(?1 AS BIGINT), person.id, given.day, given.model, given.cents, given.add_on_cents
FROM @given(email, day, model, cents, add_on_cents) JOIN @person ON person.binding = ?1 AND person.email = given.email WHERE @may;

-- Each day by itself, because the key begins with the day.
-- name: dropDays
DELETE FROM @person_use WHERE binding = ?1 AND day IN (
  WITH RECURSIVE days(day) AS (SELECT CAST(?3 AS BIGINT) UNION ALL SELECT day + 1 FROM days WHERE day + 1 < ?4) SELECT day FROM days
) AND person = (SELECT id FROM @person WHERE binding = ?1 AND email = ?2);

-- name: addDays
INSERT INTO @person_use (binding, person, day, cents, told) SELECT CAST(?1 AS BIGINT), person.id, given.day, given.cents, true
FROM @given(email, day, cents) JOIN @person ON person.binding = ?1 AND person.email = given.email WHERE @may;

-- name: dropTold
DELETE FROM @person_use WHERE binding = ?1 AND told;

-- name: dropKnown
DELETE FROM @known_days WHERE binding = ?1;

-- name: forgetHistory
DELETE FROM @history WHERE binding = ?1 AND scope = ?2;

-- name: forgetUse
DELETE FROM @person_use WHERE binding = ?1 AND person IN (SELECT id FROM @person WHERE binding = ?1 AND email = ?2);

-- name: forgetAddOnUse
DELETE FROM @add_on_use WHERE binding = ?1 AND person IN (SELECT id FROM @person WHERE binding = ?1 AND email = ?2);

-- name: forgetDays
DELETE FROM @known_days WHERE binding = ?1 AND email = ?2;

-- name: forgetPerson
DELETE FROM @person WHERE binding = ?1 AND email = ?2;

-- Questions about use, in the words of every database (statement.ts). ?1 is the binding; of a range of days, ?2 is the first, and ?3 the one after the
-- last. Sums are cut at the greatest number that is exact.

-- name: runs
SELECT day, model, mode, messages, cents FROM @run_use
WHERE binding = ?1 AND day >= ?2 AND day < ?3 AND scope = ?4 ORDER BY day, model, mode;

-- name: firstRecorded
SELECT day FROM @person_use WHERE binding = ?1 AND NOT told ORDER BY day LIMIT 1;

-- name: firstMeasured
SELECT day FROM @add_on_use WHERE binding = ?1 ORDER BY day LIMIT 1;

-- name: highestUse
SELECT email, highest AS cents FROM @person WHERE binding = ?1 AND highest > 0 ORDER BY id;

-- name: useReadings
SELECT at, cents FROM @use_reading WHERE binding = ?1 ORDER BY at;

-- name: useByPerson
SELECT email, @least(sum(cents), @most) AS cents FROM @person_use JOIN @person ON person.id = person_use.person
WHERE person_use.binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY person.id ORDER BY sum(cents) DESC, email;

-- `asked` has the days of the range that have rows. The keys begin with the day, and a day has many people. So the query goes from each day to the next
-- by the key: it costs one lookup for each day with use, however long the range is. The last row has no day.
-- name: useOfPerson
WITH RECURSIVE asked (day) AS (
  SELECT min(day) FROM @person_use WHERE binding = ?1 AND day >= ?2 AND day < ?3
  UNION ALL
  SELECT (SELECT min(day) FROM @person_use WHERE binding = ?1 AND day > asked.day AND day < ?3) FROM asked WHERE asked.day IS NOT NULL
)
SELECT asked.day, cents FROM asked JOIN @person ON person.binding = ?1 AND person.email = ?4
JOIN @person_use ON person_use.binding = ?1 AND person_use.day = asked.day AND person_use.person = person.id ORDER BY asked.day;

-- name: people
SELECT id, email FROM @person WHERE binding = ?1 AND email <> '' ORDER BY id;

-- A day comes as lists in one row: a row for each person and day would take five times as long.
-- name: estimated
SELECT day, @list(person) AS people, @list(cents) AS cents FROM @person_use
WHERE binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY day ORDER BY day;

-- name: measured
SELECT day, @list(person) AS people, @list(cents) AS cents, @list(add_on) AS add_on FROM (
  SELECT day, person, @least(sum(cents), @most) AS cents, @least(sum(add_on_cents), @most) AS add_on
  FROM @add_on_use WHERE binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY day, person
) AS sums GROUP BY day ORDER BY day;

-- name: addOnByModel
SELECT model, @least(sum(add_on_cents), @most) AS add_on_cents FROM @add_on_use
WHERE binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY model ORDER BY model;

-- name: addOnSums
SELECT email, @least(sum(cents), @most) AS cents, @least(sum(add_on_cents), @most) AS add_on_cents
FROM @add_on_use JOIN @person ON person.id = add_on_use.person
WHERE add_on_use.binding = ?1 AND day >= ?2 AND day < ?3 GROUP BY person.id ORDER BY email;

-- name: addOnOfPerson
WITH RECURSIVE asked (day) AS (
  SELECT min(day) FROM @add_on_use WHERE binding = ?1 AND day >= ?2 AND day < ?3
  UNION ALL
  SELECT (SELECT min(day) FROM @add_on_use WHERE binding = ?1 AND day > asked.day AND day < ?3) FROM asked WHERE asked.day IS NOT NULL
)
SELECT asked.day, @least(sum(cents), @most) AS cents, @least(sum(add_on_cents), @most) AS add_on_cents FROM asked
JOIN @person ON person.binding = ?1 AND person.email = ?4
JOIN @add_on_use ON add_on_use.binding = ?1 AND add_on_use.day = asked.day AND add_on_use.person = person.id
GROUP BY asked.day ORDER BY asked.day;

-- The tables of the sandbox's database beside those of use, which use.ts makes before, and their indices. store.ts runs it at each start.
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS people (id INTEGER PRIMARY KEY, email TEXT NOT NULL UNIQUE, name TEXT NOT NULL, role TEXT NOT NULL,
  status TEXT NOT NULL, disabled INTEGER NOT NULL, apiKey TEXT NOT NULL, signupAt INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS groups (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, name TEXT NOT NULL UNIQUE);
CREATE TABLE IF NOT EXISTS members (groupId TEXT NOT NULL, person INTEGER NOT NULL, PRIMARY KEY (groupId, person)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS caps (scope TEXT PRIMARY KEY, cap INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS keys (secret TEXT PRIMARY KEY, permissions TEXT NOT NULL, groupId TEXT) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS autocomplete_by_person ON autocomplete_use (person, at, acceptances);
CREATE INDEX IF NOT EXISTS agent_by_person ON agent_use (person, at, cents);
CREATE INDEX IF NOT EXISTS command_by_person ON command_use (person, at);

-- Agent use with the part of each row that was paid from add-on credits: a person's use beyond their seat's credits within the cycle, which
-- is the calendar month.
DROP VIEW IF EXISTS add_on_use;
CREATE VIEW add_on_use AS SELECT place AS rowid, person, at, ide, cents, modelName, metadata,
  MIN(cents, MAX(0, before + cents - seat)) AS addOnCents
FROM (SELECT used.rowid AS place, used.person, used.at, used.ide, used.cents,
  CASE WHEN model IN ('', 'UNKNOWN', '<nil>') THEN '<nil>' ELSE 'MODEL_' || upper(replace(replace(replace(model, ' ', '_'), '.', '_'), '-', '_')) END
    AS modelName,
  '<nil>' AS metadata,
  COALESCE((SELECT value FROM meta WHERE name = 'creditsPerSeat'), 0) * 100 AS seat,
  COALESCE((SELECT SUM(cents) FROM agent_use AS earlier WHERE earlier.person = used.person
    AND earlier.at >= unixepoch(used.at / 1000, 'unixepoch', 'start of month') * 1000
    AND earlier.at <= used.at AND (earlier.at < used.at OR earlier.rowid < used.rowid)), 0) AS before
FROM agent_use AS used);

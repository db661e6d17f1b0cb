// What a fixture file calls itself, and where its schema is served. The schema itself is made of fixture-schema-source.ts.

export const FIXTURE_API_VERSION = 'capkeeper/v1'
export const FIXTURE_KIND = 'SandboxFixture'
/** Where the running sandbox serves the schema. */
export const FIXTURE_SCHEMA_PATH = '/fixture.schema.json'

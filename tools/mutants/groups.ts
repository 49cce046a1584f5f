/** The modules that mutants are spread over. */
import { globSync } from 'node:fs'

const IN_DB = ['kv', 'btree', 'pager', 'document', 'index', 'query', 'view', 'replication']
const IN_BACKEND = ['records', 'sync', 'accounts', 'gateway']

/** Folders by group, from the root of the repository. */
export const GROUPS: Readonly<Record<string, string>> = {
  ...Object.fromEntries(IN_DB.map((name) => [name, `packages/db/src/${name}`])),
  rules: 'packages/rules/src',
  ...Object.fromEntries(IN_BACKEND.map((name) => [name, `packages/backend/src/${name}`])),
  rest: 'packages/server/src/rest',
  couch: 'packages/server/src/couch',
  client: 'packages/client/src',
  postgres: 'packages/postgres/src',
}

/** The modules of a group, from the root of the repository. */
export function filesOf(group: string, root: string): readonly string[] {
  return globSync(`${GROUPS[group]}/**/*.ts`, { cwd: root }).sort()
}

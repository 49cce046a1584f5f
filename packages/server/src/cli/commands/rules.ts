import type { Command } from 'commander'
import { openBackend, ServiceError, SYSTEM, type ExplainedRules } from '@pannier/backend'
import { addWhere, type Where } from '../administer.ts'
import { givenSettingsKey, withDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { rulesText } from '../rules-text.ts'
import { SuperuserApi } from '../superuser-api.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface RulesArguments extends Where {
  readonly rule?: string
  readonly json: boolean
}

export function addRules(program: Command, terminal: Terminal): void {
  const rules = program.command('rules').summary('explain rules of collections').description('Works with rules.')
  addWhere(rules.command('explain'))
    .summary('say what rules cost')
    .description(
      'Says what each rule of a collection costs, by classes from A to E, and whether the collection can be synced. ' +
        "The URL of a server that runs has a superuser's e-mail address and password: " +
        'http://root%40example.com:password@localhost:5984.',
    )
    .argument('[collection]', 'its name; all collections when left out')
    .option('--rule <text>', 'a rule in place of the list rule of the collection')
    .option('--json', 'for programs', false)
    .action(async (collection: string | undefined, { rule, json, ...where }: RulesArguments) => {
      if (rule !== undefined && collection === undefined)
        throw new UsageError('A rule is about one collection: name it before --rule.')
      const explained = await explain(where, collection, rule, terminal)
      const text = json ? JSON.stringify(explained, undefined, 2) : explained.map(rulesText).join('\n\n')
      printLine(terminal.stdout, text)
    })
}

async function explain(
  { dir, url }: Where,
  collection: string | undefined,
  rule: string | undefined,
  terminal: Terminal,
): Promise<ExplainedRules[]> {
  if (url !== undefined) return explainByHttp(new SuperuserApi(url, terminal.signal), collection, rule)
  if (dir === undefined) throw new UsageError('Where? Give --dir or --url.')
  return withDatabase(dir, terminal, async (database) => {
    const backend = await openBackend(database, { sendsMails: false, ...givenSettingsKey() })
    try {
      const { definitions, sync } = backend
      const names = collection === undefined ? ownNames(definitions.all()) : [collection]
      return names.map((name) => sync.explain(SYSTEM, name, rule))
    } catch (error) {
      throw error instanceof ServiceError ? failure(error, collection) : error
    } finally {
      await backend.close()
    }
  })
}

async function explainByHttp(
  api: SuperuserApi,
  collection: string | undefined,
  rule: string | undefined,
): Promise<ExplainedRules[]> {
  const names = collection === undefined ? ownNames(await allCollections(api)) : [collection]
  const explained: ExplainedRules[] = []
  for (const name of names) {
    const query = rule === undefined ? '' : `?${new URLSearchParams({ rule }).toString()}`
    const path = `/api/collections/${encodeURIComponent(name)}/rules${query}`
    explained.push((await api.json('GET', path)) as ExplainedRules)
  }
  return explained
}

interface ListedCollection {
  readonly name: string
  readonly system: boolean
}

async function allCollections(api: SuperuserApi): Promise<ListedCollection[]> {
  const all: ListedCollection[] = []
  for (let page = 1, pages = 1; page <= pages; page++) {
    const answer = await api.json('GET', `/api/collections?perPage=500&page=${page}`)
    const { items, totalPages } = answer as { readonly items: ListedCollection[]; readonly totalPages: number }
    all.push(...items)
    pages = totalPages
  }
  return all
}

/** Names of the collections that people made: the server makes those of the system. */
function ownNames(all: readonly ListedCollection[]): string[] {
  return all.filter(({ system }) => !system).map(({ name }) => name)
}

function failure(error: ServiceError, collection: string | undefined): FailedError {
  const message = error.code === 'NOT_FOUND' ? `There is no collection "${collection}".` : error.message
  return new FailedError(message, { cause: error })
}

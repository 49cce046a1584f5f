/** The text of migration files. */
import type { Definition } from '../definitions/definition.ts'
import type { DefinitionPair } from '../definitions/definitions.ts'
import { presentDefinition } from '../definitions/present-definition.ts'
import type { Report, ReportPair } from '../definitions/report.ts'
import type { JsonObject } from '../gateway/documents.ts'

/** A file to be filled in. */
export function blankMigration(): string {
  return fileOf('  // await app.createCollection({ … })', '  // Undoes what up() does.')
}

/** A file that makes all collections and reports as they are. What they have more stays. */
export function snapshotMigration(all: readonly Definition[], reports: readonly Report[]): string {
  const collections = `  await app.importCollections(${textOf(all.map(shown))}, false)`
  return fileOf([collections, ...reports.map(saved)].join('\n'), '  // Nothing knows what was there before.')
}

/** A report that gets another name is another one. */
export function reportMigration({ before, after }: ReportPair): string {
  return fileOf(reportChanged(before, after), reportChanged(after, before))
}

function reportChanged(from: Report | undefined, to: Report | undefined): string {
  const isGone = from !== undefined && from.name !== to?.name
  const gone = isGone ? [`  await app.deleteReport(${JSON.stringify(from.name)})`] : []
  return [...gone, ...(to === undefined ? [] : [saved(to)])].join('\n')
}

function saved({ created: _created, updated: _updated, ...values }: Report): string {
  return `  await app.saveReport(${textOf(values)})`
}

/** Undefined if nothing has changed that a migration has. */
export function changeMigration({ before, after }: DefinitionPair): string | undefined {
  if (before === undefined || after === undefined) return fileOf(made(before, after), made(after, before))
  const [up, down] = [changed(before, after), changed(after, before)]
  return up === undefined || down === undefined ? undefined : fileOf(up, down)
}

function made(from: Definition | undefined, to: Definition | undefined): string {
  return to === undefined
    ? `  await app.deleteCollection(${JSON.stringify(from!.id)})`
    : `  await app.createCollection(${textOf(shown(to))})`
}

/** Only what is different: others may have changed the rest. */
function changed(from: Definition, to: Definition): string | undefined {
  const [{ fields: oldFields = [], ...old }, { fields = [], ...values }] = [shown(from), shown(to)]
  const different = Object.entries(values).filter(([key, value]) => textOf(value) !== textOf(old[key]))
  const put = (fields as readonly JsonObject[]).flatMap((field, at) => {
    const before = (oldFields as readonly JsonObject[]).find(({ id }) => id === field['id'])
    return textOf(before) === textOf(field) ? [] : [{ at, field }]
  })
  const kept = new Set((fields as readonly JsonObject[]).map(({ id }) => id))
  const remove = (oldFields as readonly JsonObject[]).flatMap(({ id }) => (kept.has(id) ? [] : [id]))
  const changes = { ...(put.length > 0 && { put }), ...(remove.length > 0 && { remove }) }
  const hasChanges = Object.keys(changes).length > 0
  if (different.length === 0 && !hasChanges) return undefined
  const parameters = [from.id, Object.fromEntries(different), ...(hasChanges ? [changes] : [])]
  return `  await app.updateCollection(${parameters.map(textOf).join(', ')})`
}

/** As the API shows it, without providers of OAuth2, whose secrets nobody sees. Fields of a view follow from its query. */
function shown(definition: Definition): JsonObject {
  const { created: _created, updated: _updated, ...values } = presentDefinition(definition)
  if (definition.type === 'view') delete values['fields']
  if (definition.type !== 'auth') return values
  const { enabled, mappedFields } = definition.oauth2
  return { ...values, oauth2: { enabled, mappedFields } }
}

function textOf(value: unknown): string {
  return JSON.stringify(value, undefined, 2)?.replaceAll('\n', '\n  ') ?? ''
}

function fileOf(up: string, down: string): string {
  return `import type { MigrationApp } from '@pannier/server'

export async function up(app: MigrationApp): Promise<void> {
${up}
}

export async function down(app: MigrationApp): Promise<void> {
${down}
}
`
}

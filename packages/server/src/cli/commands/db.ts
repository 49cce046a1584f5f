import { Option, type Command } from 'commander'
import { addWhere, administer, type Where } from '../administer.ts'
import { withAccess, type Access, type KnownDatabase, type Names } from '../administration.ts'
import { formatTable } from '../table.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface AccessArguments extends Where {
  readonly members: readonly string[]
  readonly memberRoles: readonly string[]
  readonly admins: readonly string[]
  readonly public: boolean
}

export function addDb(program: Command, terminal: Terminal): void {
  const db = program
    .command('db')
    .summary('databases of a server')
    .description('Databases of a server, and who may use them.')
  const say = (text: string): void => printLine(terminal.stderr, text)

  withAccessOptions(db.command('create'))
    .summary('make a database')
    .description('Makes a database. Without options only server admins may use it.')
    .argument('<name>', 'small letters, digits and _$()+/-, a letter first')
    .action((name: string, options: AccessArguments) =>
      administer(options, terminal, async (administration) => {
        await administration.createDatabase(name)
        const nobody = { members: { names: [], roles: [] }, admins: { names: [], roles: [] } }
        await administration.setSecurity(name, withAccess(nobody, accessOf(options)))
        say(`Database ${name} made.`)
      }),
    )

  withAccessOptions(db.command('grant'))
    .summary('let users in')
    .description('Lets users use a database, beside those who may already.')
    .argument('<name>', 'of the database')
    .action((name: string, options: AccessArguments) =>
      administer(options, terminal, async (administration) => {
        const security = await administration.security(name)
        await administration.setSecurity(name, withAccess(security, accessOf(options)))
        say(`Access to ${name} granted.`)
      }),
    )

  addWhere(db.command('list'))
    .summary('show the databases')
    .description('Shows the databases, how many documents they have, and who may use them.')
    .option('--json', 'for programs', false)
    .action(({ json, ...where }: Where & { readonly json: boolean }) =>
      administer(where, terminal, async (administration) => {
        const known = await administration.databases()
        printLine(terminal.stdout, json ? JSON.stringify(known, undefined, 2) : describe(known))
      }),
    )
}

function withAccessOptions(command: Command): Command {
  return addWhere(command)
    .option('--members <names...>', 'users who may read and write', [])
    .option('--member-roles <roles...>', 'roles whose users may', [])
    .option('--admins <names...>', 'users who may also change design documents and who else may', [])
    .addOption(
      new Option('--public', 'everybody may read and write, without a login')
        .default(false)
        .conflicts(['members', 'memberRoles']),
    )
}

function accessOf({ members, memberRoles, admins, public: isPublic }: AccessArguments): Access {
  return { members, memberRoles, admins, isPublic }
}

function describe(databases: readonly KnownDatabase[]): string {
  if (databases.length === 0) return 'There are no databases.'
  return formatTable(
    ['database', 'documents', 'members', 'admins'],
    databases.map(({ name, documents, security: { members, admins } }) => [
      name,
      documents.toLocaleString('en'),
      isNobody(members) ? 'everybody' : textOf(members),
      textOf(admins),
    ]),
  )
}

function isNobody({ names, roles }: Names): boolean {
  return names.length + roles.length === 0
}

/** Roles are those in brackets. */
function textOf({ names, roles }: Names): string {
  return [...names, ...roles.map((role) => (role === '_admin' ? '(server admins)' : `(${role})`))].join(', ')
}

import { Option, type Command } from 'commander'
import { addWhere, administer, type Where } from '../administer.ts'
import type { KnownUser } from '../administration.ts'
import { askNewPassword } from '../ask-password.ts'
import { formatTable } from '../table.ts'
import { printLine, type Terminal } from '../terminal.ts'

interface AddArguments extends Where {
  readonly roles: readonly string[]
  readonly admin: boolean
}

export function addUser(program: Command, terminal: Terminal): void {
  const user = program.command('user').summary('users of a server').description('Users of a server.')
  const say = (text: string): void => printLine(terminal.stderr, text)

  addWhere(user.command('add'))
    .summary('make a user')
    .description('Makes a user. The password is asked for, or is the first line of the standard input.')
    .argument('<name>', 'of the user')
    .option('--roles <roles...>', 'that `_security` of databases may name', [])
    .addOption(new Option('--admin', 'make a server admin; with --dir').default(false).conflicts(['url', 'roles']))
    .action((name: string, { roles, admin: isAdmin, ...where }: AddArguments) =>
      administer(where, terminal, async (administration) => {
        const password = await askNewPassword(terminal, `Password of ${name}`)
        await administration.addUser({ name, password, roles, isAdmin })
        say(`${isAdmin ? 'Admin' : 'User'} ${name} made.`)
      }),
    )

  addWhere(user.command('list'))
    .summary('show the users')
    .description('Shows the users and the server admins, with their roles.')
    .option('--json', 'for programs', false)
    .action(({ json, ...where }: Where & { readonly json: boolean }) =>
      administer(where, terminal, async (administration) => {
        const users = await administration.users()
        printLine(terminal.stdout, json ? JSON.stringify(users, undefined, 2) : describe(users))
      }),
    )

  addWhere(user.command('passwd'))
    .summary('give a user a new password')
    .description(
      'Gives a user or an admin a new password, and ends all sessions of the old one. It is asked for as by `user add`.',
    )
    .argument('<name>', 'of the user')
    .action((name: string, where: Where) =>
      administer(where, terminal, async (administration) => {
        await administration.setPassword(name, await askNewPassword(terminal, `New password of ${name}`))
        say(`${name} has a new password.`)
      }),
    )

  addWhere(user.command('remove'))
    .summary('delete a user')
    .description(
      'Deletes a user or an admin, and ends the sessions. Documents and `_security` of databases stay as they are.',
    )
    .argument('<name>', 'of the user')
    .action((name: string, where: Where) =>
      administer(where, terminal, async (administration) => {
        await administration.removeUser(name)
        say(`User ${name} removed.`)
      }),
    )
}

function describe(users: readonly KnownUser[]): string {
  if (users.length === 0) return 'There are no users.'
  return formatTable(
    ['user', 'roles'],
    users.map(({ name, roles, isAdmin }) => [name, isAdmin ? 'server admin' : roles.join(', ')]),
  )
}

import { existsSync } from 'node:fs'
import type { Command } from 'commander'
import { makePrivateFolder } from '../../http/private-files.ts'
import { addWhere, type Where } from '../administer.ts'
import { askNewPassword } from '../ask-password.ts'
import { withNewDatabase } from '../database-path.ts'
import { FailedError, UsageError } from '../outcome.ts'
import { SuperuserApi } from '../superuser-api.ts'
import { HttpSuperusers, withSuperusersOf, type Superusers } from '../superusers.ts'
import { printLine, type Terminal } from '../terminal.ts'

const ADDRESS = /^[^\s@]+@[^\s@]+$/

export function addSuperuser(program: Command, terminal: Terminal): void {
  const superuser = program
    .command('superuser')
    .summary('superusers of the application backend')
    .description("Superusers of the application backend: they may do anything through PocketBase's API and CouchDB's.")
  const say = (text: string): void => printLine(terminal.stderr, text)
  addLogins(superuser, terminal)

  addPassword(superuser.command('upsert'))
    .summary('make a superuser, or give one a new password')
    .description('Makes a superuser. One that is there gets the password.')
    .action((email: string, given: string | undefined, where: Where) =>
      change(where, email, terminal, async (superusers) => {
        await superusers.upsert(email, await passwordOf(email, given, terminal))
        say(`Superuser ${email} saved.`)
      }),
    )

  addPassword(superuser.command('create'))
    .summary('make a superuser')
    .description('Makes a superuser.')
    .action((email: string, given: string | undefined, where: Where) =>
      change(where, email, terminal, async (superusers) => {
        await superusers.create(email, await passwordOf(email, given, terminal))
        say(`Superuser ${email} made.`)
      }),
    )

  addPassword(superuser.command('update'))
    .summary('give a superuser a new password')
    .description('Gives a superuser a new password, and ends all sessions and tokens of the old one.')
    .action((email: string, given: string | undefined, where: Where) =>
      change(where, email, terminal, async (superusers) => {
        const id = await superusers.find(email)
        if (id === undefined) throw new FailedError(`There is no superuser ${email}.`)
        await superusers.setPassword(id, await passwordOf(email, given, terminal))
        say(`${email} has a new password.`)
      }),
    )

  addWhere(superuser.command('delete'))
    .summary('delete a superuser')
    .description('Deletes a superuser. The last one stays.')
    .argument('<email>', 'of the superuser')
    .action((email: string, where: Where) =>
      change(where, email, terminal, async (superusers) => {
        const id = await superusers.find(email)
        if (id === undefined) {
          say(`There is no superuser ${email}.`)
          return
        }
        await superusers.remove(id)
        say(`Superuser ${email} deleted.`)
      }),
    )
}

/** Subcommands for the logins of superusers. */
function addLogins(superuser: Command, terminal: Terminal): void {
  const say = (text: string): void => printLine(terminal.stderr, text)
  addWhere(superuser.command('otp'))
    .summary('make a one-time password for a superuser')
    .description('Makes a one-time password, for a superuser to whom no mail comes. Prints its id and the password.')
    .argument('<email>', 'of the superuser')
    .action((email: string, where: Where) =>
      change(where, email, terminal, async (superusers) => {
        const { otpId, password, seconds } = await superusers.makeOtp(email)
        say(`One-time password of ${email}, for ${seconds} seconds:`)
        printLine(terminal.stdout, `${otpId} ${password}`)
      }),
    )

  addWhere(superuser.command('ips'))
    .summary('say from where superusers may act')
    .description('Says from which addresses and networks superusers may act. From everywhere if none is given.')
    .argument('[addresses...]', 'such as 127.0.0.1 and 10.0.0.0/24')
    .action((addresses: readonly string[], where: Where) =>
      withSuperusers(where, terminal, async (superusers) => {
        await superusers.setAddresses(addresses)
        say(addresses.length === 0 ? 'Superusers act from everywhere.' : `Superusers act from ${addresses.join(', ')}.`)
      }),
    )
}

function addPassword(command: Command): Command {
  return addWhere(command)
    .argument('<email>', 'of the superuser')
    .argument('[password]', 'asked for, or the first line of the standard input, when left out')
}

async function passwordOf(email: string, given: string | undefined, terminal: Terminal): Promise<string> {
  return given ?? askNewPassword(terminal, `Password of ${email}`)
}

async function change(
  where: Where,
  email: string,
  terminal: Terminal,
  work: (superusers: Superusers) => Promise<void>,
): Promise<void> {
  if (!ADDRESS.test(email)) throw new UsageError(`A superuser has an e-mail address, got ${email}.`)
  await withSuperusers(where, terminal, work)
}

async function withSuperusers(
  { dir, url }: Where,
  terminal: Terminal,
  work: (superusers: Superusers) => Promise<void>,
): Promise<void> {
  if (url !== undefined) await work(new HttpSuperusers(new SuperuserApi(url, terminal.signal)))
  else if (dir === undefined) throw new UsageError('Where? Give --dir or --url.')
  else {
    if (!existsSync(dir)) await makePrivateFolder(dir)
    await withNewDatabase(dir, terminal, (database) => withSuperusersOf(database, work))
  }
}

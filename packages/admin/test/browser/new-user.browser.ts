/**
 * Goal: somebody who reads no documentation comes from an empty folder to an app's page that reads what the rules let each of two users see.
 * Method: the command itself, and only what its output and the pages say. Each mistake on the way is made once.
 */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { statfsSync } from 'node:fs'
import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { BrowserSuiteContext } from '../../../../tools/browser/browser-suite.ts'
import type { Page } from '../../../../tools/browser/browser.ts'
import { freePort } from '../../../../tools/processes.ts'
import { writeAdminPage } from '../../../../tools/web/admin-page.ts'
import { assertEqual } from '../../../db/testing/check.ts'
import { EMAIL, PASSWORD } from '../server.ts'
import { choose, fill, goTo, isSound, press, sees, seesNo, typeCode } from './steps.ts'

const MAIN = join(import.meta.dirname, '../../../server/src/cli/main.ts')
const START_MS_MAX = 120_000
/** A database without records takes some 2 MiB. */
const DISK_MIB = 24
const NO_USER_YET = 'Sign in to see notes.'

/** The page of an app, as short as one can be. */
const APP = `<!doctype html><html lang="en"><title>Notes</title><h1>Notes</h1>
<form><label>E-mail <input name="identity"></label> <label>Password <input name="password" type="password"></label> <button>Enter</button></form>
<ul></ul><p>${NO_USER_YET}</p>
<script type="module">
const ask = async (path, options) => (await fetch('/api/collections/' + path, options)).json()
document.forms[0].onsubmit = async (event) => {
  event.preventDefault()
  const body = JSON.stringify(Object.fromEntries(new FormData(event.target)))
  const headers = { 'content-type': 'application/json' }
  const { token, message, record } = await ask('users/auth-with-password', { method: 'POST', headers, body })
  const { items = [] } = token ? await ask('notes/records', { headers: { authorization: token } }) : {}
  document.querySelector('ul').replaceChildren(...items.map(({ title }) => Object.assign(document.createElement('li'), { textContent: title })))
  document.querySelector('p').textContent = token ? record.email + ' sees ' + items.length : message
}
</script></html>`

export function browserSuite({ test, notRun, browser }: BrowserSuiteContext): void {
  // First steps and records are tested in WebKit, too.
  if (browser.engine === 'webkit') return

  test('from an empty folder to an app with two users, without documentation', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pannier-new-user-'))
    await mkdir(join(dir, 'public'))
    await writeFile(join(dir, 'public/index.html'), APP)
    const started = performance.now()
    const port = String(await freePort())
    const server = await serve(dir, '--port', port, '--public', join(dir, 'public'))
    try {
      const link = await linkIn(server)
      const page = await browser.open(link)
      await makeSuperuser(page)
      await makeNotes(page)
      await makeUsers(page)
      await page.close()
      await useApp(await browser.open(new URL('/', link).href))
      console.log(`A new user's path: ${Math.round((performance.now() - started) / 1000)} s of scripted steps.`)
    } finally {
      await server.end()
      await rm(dir, { recursive: true, force: true })
    }
  })

  test('a server that is gone and a disk that is full are said in words, and work continues after them', async () => {
    const dir = await mkdtemp(join(tmpdir(), 'pannier-new-user-'))
    const data = join(dir, 'data')
    await mkdir(data)
    const isSmall = spawnSync('mount', ['-t', 'tmpfs', '-o', `size=${DISK_MIB}m,mode=777`, 'tmpfs', data]).status === 0
    if (!isSmall) notRun('a full disk (this user may not mount a file system)')
    const port = String(await freePort())
    let server = await serve(dir, '--port', port)
    const page = await browser.open(await linkIn(server))
    try {
      await makeSuperuser(page)
      await fill(page, 'Name', 'notes')
      await press(page, 'Make the collection')
      await sees(page, 'No records yet')
      await press(page, 'New record')
      await fill(page, 'title', 'written while it was away')
      await server.end()
      await press(page, 'Make the record')
      await sees(page, 'The server does not answer. Check that it runs', 'dialog')
      await sees(page, 'The server does not answer. Trying again …')
      server = await serve(dir, '--port', port)
      await seesNo(page, 'Trying again …')
      await press(page, 'Make the record')
      await sees(page, 'written while it was away', '[role=grid]')
      await server.end()
      // What was never shown is not there yet. It comes with the server; Firefox does not ask for it again without a reload.
      await press(page, 'Backups')
      await sees(page, 'The server does not answer. Trying again …')
      server = await serve(dir, '--port', port)
      if (browser.engine === 'firefox') {
        await sees(page, 'Reload it to continue.')
        await page.reload()
      }
      await sees(page, 'No backups yet')
      await goTo(page, '/records/notes')
      await sees(page, 'written while it was away', '[role=grid]')
      if (isSmall) await fillDisk(page, data)
    } finally {
      await page.close()
      await server.end()
      if (isSmall) spawnSync('umount', [data])
      await rm(dir, { recursive: true, force: true })
    }
  })
}

async function fillDisk(page: Page, data: string): Promise<void> {
  const ballast = join(data, 'ballast')
  const write = async (title: string): Promise<void> => {
    await press(page, 'New record')
    await fill(page, 'title', title)
    await press(page, 'Make the record')
  }
  const { bavail, bsize } = statfsSync(data)
  // The server may write as well meanwhile: then it is full before the end.
  await writeFile(ballast, Buffer.alloc(bavail * bsize)).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOSPC') throw error
  })
  await write('no room for it')
  await sees(page, 'The server has no space left', 'dialog')
  await rm(ballast)
  await press(page, 'Make the record')
  await sees(page, 'no room for it', '[role=grid]')
}

interface Served {
  readonly output: () => string
  readonly end: () => Promise<void>
}

/** The command itself, with its data in `dir`. */
async function serve(dir: string, ...more: readonly string[]): Promise<Served> {
  await writeAdminPage()
  const command = ['serve', '--dir', join(dir, 'data'), ...more]
  const server = spawn(process.execPath, ['--conditions=pannier-source', MAIN, ...command])
  let output = ''
  for (const stream of [server.stdout, server.stderr]) stream.on('data', (text: Buffer) => (output += String(text)))
  const closed = once(server, 'close')
  return {
    output: () => output,
    end: async () => {
      server.kill()
      await closed
    },
  }
}

async function linkIn({ output }: Served): Promise<string> {
  const late = AbortSignal.timeout(START_MS_MAX)
  for (;;) {
    const link = /http:\/\/\S+\/_\/#\/setup\/\S+/.exec(output())?.[0]
    if (link !== undefined) return link
    if (late.aborted) throw new Error(`The server shows no link. It shows:\n${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

async function makeSuperuser(page: Page): Promise<void> {
  await sees(page, 'Make the first superuser')
  await fill(page, 'E-mail address', EMAIL)
  await fill(page, 'Password', 'short')
  await fill(page, 'The password again', 'short')
  await press(page, 'Make the superuser')
  await sees(page, 'at least 8', '.field-wrong')
  await fill(page, 'Password', PASSWORD)
  await fill(page, 'The password again', PASSWORD)
  await press(page, 'Make the superuser')
  await sees(page, 'Welcome to Pannier')
}

async function makeNotes(page: Page): Promise<void> {
  await fill(page, 'Name', 'users')
  await press(page, 'Make the collection')
  await sees(page, 'unique', '.field-wrong')
  await fill(page, 'Name', 'notes')
  await press(page, 'Make the collection')
  await sees(page, 'No records yet')
  for (const title of ['for Ann', 'for Bob']) {
    await press(page, 'New record')
    await sees(page, 'New record of notes')
    await fill(page, 'title', title)
    await press(page, 'Make the record')
    await sees(page, title, '[role=grid]')
  }
  await press(page, 'Rules')
  await choose(page, 'List rule: who may', 'Those who meet a rule')
  await typeCode(page, 'List rule', 'titel ~ @request.auth.name')
  await sees(page, 'At character', '.rule .field-error')
  await typeCode(page, 'List rule', 'title ~ @request.auth.name && @request.auth.name != ""')
  await press(page, 'Review and save')
  await press(page, 'Save the changes')
  await sees(page, 'The collection notes is saved.')
  await isSound(page)
}

async function makeUsers(page: Page): Promise<void> {
  await press(page, 'users')
  await sees(page, 'Login rule', 'main')
  await isSound(page)
  await press(page, 'Records')
  await sees(page, 'No records yet')
  for (const name of ['Ann', 'Bob']) {
    await press(page, 'New record')
    await sees(page, 'New record of users')
    await fill(page, 'email', `${name.toLowerCase()}@example.com`)
    await fill(page, 'name', name)
    await fill(page, 'password', `the password of ${name}`)
    await press(page, 'Make the record')
    await sees(page, name, '[role=grid]')
  }
}

async function useApp(page: Page): Promise<void> {
  const enter = async (identity: string, password: string): Promise<void> => {
    await fill(page, 'E-mail', identity)
    await fill(page, 'Password', password)
    await press(page, 'Enter')
  }
  try {
    await sees(page, NO_USER_YET)
    await enter('ann@example.com', 'wrong')
    await sees(page, 'Failed to authenticate.')
    for (const name of ['Ann', 'Bob']) {
      await enter(`${name.toLowerCase()}@example.com`, `the password of ${name}`)
      await sees(page, 'sees 1')
      await sees(page, `for ${name}`, 'ul')
    }
    assertEqual(
      page.errors().filter((error) => !error.includes('400')),
      [],
    )
  } finally {
    await page.close()
  }
}

/**
 * Follows pages of docs/guide as a new user would: in an empty folder, with the packed packages, command by command and file by
 * file. It looks at pages in Chromium where the text says what is to be seen. Needs a build.
 *
 * What differs from a user: `npm install` takes the packed packages and links all others from this repository, so that no network
 * is needed; ports are free ones. What the page marks for it:
 *
 *     ```sh                      each line is run, one after the other
 *     ```sh background           the command goes on; it is ready when it has printed its address
 *     ```ts file=… append=…      a file, or an addition to one
 *     <!-- types: TEXT -->       typed into the next commands
 *     <!-- see: WHAT -->         one of SIGHTS below
 *     <!-- stops: COMMAND -->    ends what runs in the background and begins so
 */
import type { ChildProcess } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { Browser, Page } from '../browser/browser.ts'
import { missingPackages } from '../browser/engines.ts'
import { waitForOutput } from '../browser/launch.ts'
import { withBrowser } from '../browser/with-browser.ts'
import { freePort, makeFolder, run, spawnTracked, stop } from '../processes.ts'
import { PACKAGES, root } from '../checks/packages.ts'

/** A page that is followed. */
interface Guide {
  readonly page: string
  /** Ports that the page names. */
  readonly ports: readonly string[]
  /** Where it begins; at its start when left out. */
  readonly from?: string
  /** Puts into the empty folder what its reader has. */
  readonly prepare?: (folder: string) => void
}

const MOVED = join(root, 'packages/server/testing/pocketbase/moved/golden')
const GUIDES: readonly Guide[] = [
  { page: 'tutorial.md', ports: ['5173', '5174', '5984'] },
  { page: 'backend.md', ports: ['5984', '8080'] },
  {
    page: 'from-pocketbase.md',
    ports: ['5984'],
    from: '## Moving in ten minutes',
    prepare: (folder) => cpSync(MOVED, join(folder, 'pb_data'), { recursive: true }),
  },
]
const READY_MS_MAX = 90_000
const SEEN_MS_MAX = 90_000

interface Visit {
  readonly browser: Browser
  /** The address for each port of the page. */
  readonly urls: readonly string[]
  readonly pages: Page[]
  /** Where the commands run. */
  readonly folder: string
  readonly restartServer: (whileStopped: () => Promise<void>) => Promise<void>
}

/** Sights that the tutorial promises. */
const SIGHTS: Readonly<Record<string, (visit: Visit) => Promise<void>>> = {
  async 'the list in two tabs'({ browser, urls, pages }) {
    const first = await browser.open(urls[0]!)
    pages.push(first)
    await add(first, 'Milk')
    await sees(first, ['Milk'])
    const tab = await browser.open(urls[0]!)
    await add(tab, 'Bread')
    await sees(first, ['Milk', 'Bread'])
    await first.reload()
    await sees(first, ['Milk', 'Bread'])
    await tab.close()
  },
  async 'the list on both devices'({ browser, urls, pages }) {
    const [first] = pages
    const second = await browser.open(urls[1]!)
    pages.push(second)
    await sees(second, ['Milk', 'Bread'])
    await add(second, 'Eggs')
    await sees(first!, ['Milk', 'Bread', 'Eggs'])
  },
  async 'what was added without the server'({ pages, restartServer }) {
    const [first, second] = pages as [Page, Page]
    await restartServer(async () => {
      await add(first, 'Tea')
      await sees(first, ['Milk', 'Bread', 'Eggs', 'Tea'])
      await add(second, 'Salt')
      await sees(second, ['Milk', 'Bread', 'Eggs', 'Salt'])
    })
    for (const page of pages) await sees(page, ['Milk', 'Bread', 'Eggs', 'Tea', 'Salt'])
  },
  async 'a page that is built'({ folder }) {
    if (!existsSync(join(folder, 'dist/index.html'))) throw new Error('The tutorial has built no page.')
  },
  async 'tasks of two people'({ browser, urls, pages }) {
    // Each name of the machine has a storage of its own.
    const [ann, bob] = [await browser.open(urls[0]!.replace('localhost', '127.0.0.1')), await browser.open(urls[0]!)]
    pages.push(ann, bob)
    await enter(ann, 'ann@example.org')
    await enter(bob, 'bob@example.org')
    await addTask(ann, 'Ann alone', { isShared: false })
    await addTask(ann, 'For all', { isShared: true })
    await sees(ann, ['Ann alone', 'For all'])
    await sees(bob, ['For all'])
    await addTask(bob, 'Bob alone', { isShared: false })
    await sees(bob, ['For all', 'Bob alone'])
    await sees(ann, ['Ann alone', 'For all'])
    await bob.reload()
    await sees(bob, ['For all', 'Bob alone'])
    const widths = await ann.evaluate(async () => {
      const pictures = [...document.querySelectorAll('img')]
      await Promise.all(pictures.map((picture) => picture.decode()))
      return pictures.map(({ naturalWidth }) => naturalWidth)
    })
    if (String(widths) !== '3') throw new Error(`The pictures are ${String(widths)} pixels wide.`)
  },
  async 'the deployed app'({ browser, urls }) {
    const page = await browser.open(urls[1]!)
    await enter(page, 'bob@example.org')
    await sees(page, ['For all', 'Bob alone'])
  },
  async 'what PocketBase had'({ urls }) {
    const login = await fetch(`${urls[0]}/api/collections/users/auth-with-password`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ identity: 'ann@example.com', password: 'the password of ann' }),
    })
    const { token = '' } = (await login.json()) as { token?: string }
    const answer = await fetch(`${urls[0]}/api/collections/posts/records`, { headers: { authorization: token } })
    const { items } = (await answer.json()) as { items: { id: string; pictures: string[] }[] }
    const [post] = items
    const file = await fetch(`${urls[0]}/api/files/posts/${post?.id}/${post?.pictures[0]}`)
    if (post?.id !== 'post00000000009' || !file.ok) throw new Error(`ann sees ${JSON.stringify(items)}`)
  },
}

/** A picture of 3 x 2 pixels. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAAAMAAAACCAIAAAASFvFNAAAAFUlEQVR4nGP4z8DAwMDwHwgYGBgYAB0HAwEt0ZKpAAAAAElFTkSuQmCC'

const missing = missingPackages('chromium')
if (missing.length === 0) {
  const only = process.argv[2]
  for (const guide of GUIDES) if (only === undefined || guide.page === only) await follow(guide)
} else {
  console.log(`= the guides were left out: ${missing.join(', ')} not installed`)
  if (process.env['CI'] === 'true') process.exitCode = 1
}
process.exit()

async function follow({ page, ports: named, from = '', prepare }: Guide): Promise<void> {
  const start = performance.now()
  const ports = await Promise.all(named.map(freePort))
  const whole = readFileSync(join(root, 'docs/guide', page), 'utf8')
  const part = whole.slice(whole.indexOf(from))
  const text = named.reduce((read, port, at) => read.replaceAll(port, String(ports[at])), part)
  const counts = { commands: 0, files: 0, sights: 0 }
  const background = new Map<string, ChildProcess>()
  let folder = makeFolder('guide')
  prepare?.(folder)
  let typed = ''
  const begin = async (command: string): Promise<void> => {
    const child = spawnTracked('bash', ['-c', `exec ${command}`], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    background.set(command, child)
    await waitForOutput(child, /(?:listens at|Local).*?(http:\/\/)/, READY_MS_MAX)
  }
  await withBrowser('chromium', {}, async (browser) => {
    const visit: Visit = {
      browser,
      urls: ports.map((port) => `http://localhost:${port}`),
      pages: [],
      get folder() {
        return folder
      },
      async restartServer(whileStopped) {
        const command = [...background.keys()].find((line) => line.includes('pannier serve'))!
        await stop(background.get(command)!, 'SIGINT')
        await whileStopped()
        await begin(command)
      },
    }
    for (const { info, body } of stepsOf(text)) {
      const [kind = '', ...words] = info.split(/\s+/)
      const rest = words.join(' ')
      console.log(kind.endsWith(':') ? `[${info}]` : `--- ${info}\n${body.trimEnd()}`)
      if (kind === 'types:') typed = rest
      else if (kind === 'stops:') {
        for (const [line, child] of background) if (line.startsWith(rest)) await stop(child, 'SIGINT')
      } else if (kind === 'see:') {
        await SIGHTS[rest]!(visit)
        counts.sights++
      } else if (kind === 'sh') {
        for (const line of body.trim().split('\n')) {
          counts.commands++
          if (line.startsWith('cd ')) folder = resolve(folder, line.slice('cd '.length))
          else if (line.startsWith('npm install ')) await install(folder, line.split(' ').slice(2))
          else if (rest === 'background') await begin(line)
          else await runLine(line, folder, typed)
        }
      } else if (rest !== '') {
        save(folder, rest, body)
        counts.files++
      }
    }
  })
  for (const child of background.values()) await stop(child, 'SIGINT')
  const seconds = Math.round((performance.now() - start) / 1000)
  console.log(
    `= ${page} as written: ${counts.commands} commands, ${counts.files} files, ${counts.sights} looks at its pages, ${seconds} s`,
  )
}

/** Blocks of code and marks, in their order. */
function stepsOf(text: string): { info: string; body: string }[] {
  return [...text.matchAll(/^```(.+)\n([^]*?)^```|^<!-- ((?:see|types|stops): .*) -->$/gm)].map(
    ([, fence, body, mark]) => ({
      info: fence ?? mark!,
      body: body ?? '',
    }),
  )
}

function save(folder: string, words: string, body: string): void {
  const [, how, name] = /(file|append)=(\S+)/.exec(words)!
  const path = join(folder, name!)
  mkdirSync(dirname(path), { recursive: true })
  if (how === 'append') appendFileSync(path, `\n${body}`)
  else writeFileSync(path, body)
}

async function runLine(line: string, cwd: string, typed: string): Promise<void> {
  const input = typed === '' ? line : `printf '%s\\n' '${typed}' | ${line}`
  const { code, output } = await run('bash', ['-c', input], { cwd })
  console.log(output.trimEnd())
  if (code !== 0) throw new Error(`${line} ended with ${code}`)
}

/** Our packages are unpacked from what `npm pack` makes; all others are links to those of this repository. */
async function install(folder: string, words: readonly string[]): Promise<void> {
  const modules = join(folder, 'node_modules')
  mkdirSync(join(modules, '.bin'), { recursive: true })
  for (const name of globSync('*', { cwd: join(root, 'node_modules') })) {
    const link = join(modules, name)
    if (name === 'pannier' || name === '@pannier' || existsSync(link)) continue
    symlinkSync(join(root, 'node_modules', name), link)
  }
  for (const name of withOwnDependencies(words.filter((word) => !word.startsWith('-')))) {
    const own = PACKAGES.find((published) => published.name === name)
    const target = join(modules, name)
    if (own !== undefined) {
      mkdirSync(target, { recursive: true })
      await runLine(`npm pack --silent --pack-destination "${folder}" "${own.folder}"`, folder, '')
      await runLine(
        `tar -xzf ${name.replace('@', '').replace('/', '-')}-*.tgz --strip-components=1 -C "${target}"`,
        folder,
        '',
      )
      const nested = join(own.folder, 'node_modules')
      if (existsSync(nested)) symlinkSync(nested, join(target, 'node_modules'))
    }
    const { bin = {} } = JSON.parse(readFileSync(join(target, 'package.json'), 'utf8')) as {
      bin?: Record<string, string>
    }
    for (const [command, path] of Object.entries(bin)) {
      await runLine(`chmod +x "${join(target, path)}" && ln -sf "${join(target, path)}" .bin/${command}`, modules, '')
    }
  }
}

/** As npm does: also the packages of ours that these need. */
function withOwnDependencies(names: readonly string[]): ReadonlySet<string> {
  const all = new Set(names)
  for (const name of all) {
    const own = PACKAGES.find((published) => published.name === name)
    if (own === undefined) continue
    const { dependencies = {} } = JSON.parse(readFileSync(join(own.folder, 'package.json'), 'utf8')) as {
      dependencies?: Record<string, string>
    }
    for (const needed of Object.keys(dependencies)) if (PACKAGES.some((one) => one.name === needed)) all.add(needed)
  }
  return all
}

async function add(page: Page, item: string): Promise<void> {
  await page.evaluate(async (text) => {
    while (document.querySelector('form')?.hidden !== false) await new Promise((resolve) => setTimeout(resolve, 20))
    document.querySelector('input')!.value = text
    document.querySelector('form')!.requestSubmit()
  }, item)
}

/** Signs up, or in. */
async function enter(page: Page, email: string): Promise<void> {
  await page.evaluate(async (address) => {
    const form = document.querySelector<HTMLFormElement>('#login')!
    form.querySelector<HTMLInputElement>('[name=email]')!.value = address
    form.querySelector<HTMLInputElement>('[name=password]')!.value = 'the password'
    form.requestSubmit()
    while (!form.hidden) await new Promise((resolve) => setTimeout(resolve, 20))
  }, email)
}

async function addTask(page: Page, text: string, { isShared }: { readonly isShared: boolean }): Promise<void> {
  await page.evaluate(
    async ([content, shared, picture]) => {
      const form = document.querySelector<HTMLFormElement>('#add')!
      const field = form.querySelector<HTMLInputElement>('[name=text]')!
      field.value = content
      form.querySelector<HTMLInputElement>('[name=shared]')!.checked = shared
      const files = new DataTransfer()
      files.items.add(new File([Uint8Array.from(atob(picture), (char) => char.charCodeAt(0))], 'picture.png'))
      if (shared) form.querySelector<HTMLInputElement>('[name=picture]')!.files = files.files
      form.requestSubmit()
      while (field.value !== '') await new Promise((resolve) => setTimeout(resolve, 20))
    },
    [text, isShared, PICTURE] as const,
  )
}

/** Waits until the page shows these items, in this order. */
async function sees(page: Page, items: readonly string[]): Promise<void> {
  const wanted = items.join('\n')
  const shown = async (): Promise<string> =>
    await page.evaluate(() => [...document.querySelectorAll('li')].map((row) => row.textContent).join('\n'))
  const end = performance.now() + SEEN_MS_MAX
  for (let last = ''; last !== wanted; last = await shown().catch(String)) {
    if (performance.now() > end) throw new Error(`The page shows\n${last}\nand not\n${wanted}`)
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
}

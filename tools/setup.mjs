/**
 * Makes the project runnable on a machine that has only Node 20 and npm (and, for browsers, Debian's apt): installs the
 * dependencies, finds a Node that runs TypeScript, and installs browsers. Plain JavaScript without dependencies, because
 * it runs before there are any.
 */
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { constants } from 'node:os'
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path'

export const root = resolve(import.meta.dirname ?? new URL('.', import.meta.url).pathname, '..')

const NODE_MAJOR_MIN = 24
const bin = join(root, 'node_modules', '.bin')

/** Programs for the browser tests: the Debian package that brings each, and a check for its presence. */
const BROWSER_PROGRAMS = [
  { debianPackage: 'chromium', present: () => isCommand('chromium') },
  { debianPackage: 'firefox-esr', present: () => isCommand('firefox-esr') },
  { debianPackage: 'webkit2gtk-driver', present: () => isCommand('WebKitWebDriver') },
  { debianPackage: 'xvfb', present: () => isCommand('Xvfb') },
]

const PROGRESS_MS = 5000

/** Runs `npm ci` unless what is installed is what package-lock.json says. */
export async function installDependencies() {
  if (isInstalled(root) && findNode() !== undefined) return linkWorkspaces()
  await cleanInstall(root, 'Installing dependencies (npm ci)')
}

/** Installs the products that bench measures. They are many, and only bench and the lane real need them. */
export async function installPeers() {
  const folder = join(root, 'bench')
  if (!isInstalled(folder)) await cleanInstall(folder, 'Installing what bench compares with (npm ci in bench)')
}

async function cleanInstall(folder, title) {
  // The folder of programs is about to be replaced: no child may take its `node` from there.
  const path = (process.env.PATH ?? '').split(delimiter).filter((folder) => resolve(folder) !== bin)
  const environment = { ...process.env, PATH: path.join(delimiter) }
  const status = await withProgress(
    title,
    () => `${countPackages(join(folder, 'node_modules'))} packages are there`,
    ['npm', 'ci', '--no-fund', '--no-audit', '--loglevel=error', '--progress=false'],
    { cwd: folder, env: environment },
  )
  if (status !== 0) fail('npm ci failed; what it printed above says why.')
}

/** Runs a program, and says every few seconds how far it is. Gives its exit code. */
function withProgress(title, howFar, [command, ...parameters], { cwd = root, env }) {
  say(`${title} …`)
  const start = Date.now()
  return new Promise((resolve) => {
    const timer = setInterval(() => {
      say(`  ${Math.round((Date.now() - start) / 1000)} s, ${howFar()}`)
    }, PROGRESS_MS)
    const end = (status) => {
      clearInterval(timer)
      resolve(status)
    }
    const child = spawn(command, parameters, { cwd, stdio: ['ignore', 'inherit', 'inherit'], env })
    child.on('error', (error) => {
      say(error.message)
      end(1)
    })
    child.on('close', end)
  })
}

/** npm makes all folders first. A package is there when its own file is. */
function countPackages(folder) {
  const list = (path) => (existsSync(path) ? readdirSync(path).map((name) => join(path, name)) : [])
  const packages = list(folder).flatMap((path) => (basename(path).startsWith('@') ? list(path) : [path]))
  return packages.filter((path) => existsSync(join(path, 'package.json'))).length
}

/** Compares every locked version with the installed one. */
function isInstalled(folder) {
  const installed = readLock(join(folder, 'node_modules', '.package-lock.json'))
  const locked = readLock(join(folder, 'package-lock.json'))
  if (installed === undefined || locked === undefined) return false
  return Object.entries(locked).every(([path, entry]) => {
    if (!path.includes('node_modules/') || entry.link) return true
    const found = installed[path]
    return found === undefined ? entry.optional === true || entry.devOptional === true : found.version === entry.version
  })
}

/** A new package of this repository needs no more than its link. */
function linkWorkspaces() {
  for (const [path, { link, resolved }] of Object.entries(readLock(join(root, 'package-lock.json')))) {
    if (link && !existsSync(join(root, path)))
      symlinkSync(relative(dirname(path), resolved), join(root, path), 'junction')
  }
}

function readLock(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8')).packages
  } catch {
    return undefined
  }
}

/** The Node to run everything with: the one among the dependencies, or this one if it is new enough. */
function findNode() {
  const local = join(bin, process.platform === 'win32' ? 'node.cmd' : 'node')
  const answer = spawnSync(local, ['--version'], { encoding: 'utf8' })
  if (answer.status === 0) return local
  return Number(process.versions.node.split('.')[0]) >= NODE_MAJOR_MIN ? process.execPath : undefined
}

/**
 * Installs browsers that are missing through apt-get, where that can be done; says what to do where it can't. The tests
 * themselves say which engines they leave out.
 */
export async function installBrowsers() {
  const missing = () => BROWSER_PROGRAMS.filter((program) => !program.present()).map((program) => program.debianPackage)
  const packages = missing()
  if (packages.length === 0) return
  const command = `apt-get install -y ${packages.join(' ')}`
  if (process.platform !== 'linux' || !isCommand('apt-get')) {
    say(
      `Browser tests need ${packages.join(', ')} (names of Debian packages); there is no apt-get here to install them.`,
    )
    return
  }
  if (process.getuid() !== 0) {
    say(`Browser tests need ${packages.join(', ')}. Install them with: sudo apt-get update && sudo ${command}`)
    return
  }
  const environment = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (title, ...parameters) => {
    const quiet = ['apt-get', '-qq', '-o', 'Dpkg::Use-Pty=0', '-o', 'Dpkg::Options::=--force-unsafe-io', ...parameters]
    const howFar = () => `${packages.length - missing().length} of ${packages.length} programs`
    return withProgress(title, howFar, ['sh', '-c', 'exec "$@" >/dev/null', 'sh', ...quiet], { env: environment })
  }
  await apt('Reading the lists of packages (apt-get update)', 'update')
  await apt(
    `Installing browsers for the tests: ${packages.join(', ')}`,
    'install',
    '-y',
    '--no-install-recommends',
    ...packages,
  )
  const left = missing()
  if (left.length > 0) say(`Could not install ${left.join(', ')}; what apt-get printed above says why.`)
}

/**
 * Runs a script or program of the project with a current Node, on the sources of the workspace packages, and ends this
 * process as it ended. Signals are passed on.
 */
export function runWithNode(parameters) {
  const node = findNode()
  if (node === undefined)
    fail(`Node ${NODE_MAJOR_MIN} is needed, and the one among the dependencies does not run here.`)
  const environment = { ...process.env, PATH: [bin, process.env.PATH].join(delimiter) }
  const options = ['--conditions=pannier-source', '--disable-warning=ExperimentalWarning']
  const child = spawn(node, [...options, ...parameters], { cwd: root, stdio: 'inherit', env: environment })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  child.on('error', (error) => fail(`${node}: ${error.message}`))
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]))
}

function isCommand(name) {
  return (process.env.PATH ?? '').split(delimiter).some((folder) => folder !== '' && existsSync(join(folder, name)))
}

function say(message) {
  console.log(message)
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

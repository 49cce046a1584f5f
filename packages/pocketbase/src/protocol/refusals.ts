/** The names of PocketBase that are unknown here. The server does not start with a file that calls one of them. */

interface Refusal {
  readonly pattern: RegExp
  readonly name: string
  /** The way to do it instead. */
  readonly instead: string
}

const HOOKS = 'Write it as a hook of Pannier, in TypeScript: docs/guide/hooks.md.'

const NAMES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    onServe: 'It changes the router of Go. Use onBootstrap, routerAdd and routerUse.',
    '$app.newFilesystem':
      'Files are in the database. Set them by $filesystem.fileFromBytes(), and read them by their URL.',
    '$app.newBackupsFilesystem': 'Backups are made by `pannier backup create`.',
    '$app.auxDB': 'The logs are in a database of their own. Read them by GET /api/logs.',
    '$app.auxNonconcurrentDB': 'The logs are in a database of their own. Read them by GET /api/logs.',
    '$app.createBackup': 'Use `pannier backup create`.',
    '$app.restoreBackup': 'Use `pannier backup restore`.',
    '$app.dataDir': 'Records are in one database file. Name a folder of your own.',
    '$app.restart': 'Restart the server by its supervisor.',
    '$app.runInAuxTransaction': 'The logs are in a database of their own.',
    '$app.onServe': 'It changes the router of Go. Use routerAdd and routerUse.',
    '$app.rootCmd': 'The command line is `pannier`. Write a script that uses the JS SDK.',
    '$app.reloadCachedCollections': 'Collections are always as they are stored. Leave the call out.',
    '$security.randomStringByRegex':
      'Give a text field an autogeneratePattern, or use $security.randomStringWithAlphabet.',
    '$filesystem.s3': 'Use a client of S3 by $http.send, or an npm package in a hook of Pannier.',
    '$filesystem.local': 'Use $os.readFile and $os.writeFile.',
  }),
)

const REFUSALS: readonly Refusal[] = [...NAMES].map(([name, instead]) => ({
  name,
  instead,
  pattern: new RegExp(
    `${name.startsWith('$') ? '' : '(?<![.\\w$])'}${name.replaceAll('$', '\\$').replace('.', '\\s*\\.\\s*')}\\s*\\(`,
  ),
}))

/** The message about an unknown name. */
export function refused(name: string): string {
  return `${name}() is not there on Pannier. ${NAMES.get(name) ?? HOOKS}`
}

/** The first use of a name that is refused, with its line. Comments do not count. */
export function refusedIn(text: string): { readonly line: number; readonly message: string } | undefined {
  for (const [at, line] of withoutComments(text).split('\n').entries())
    for (const { pattern, name } of REFUSALS) if (pattern.test(line)) return { line: at + 1, message: refused(name) }
  return undefined
}

/** The text without comments. Lines stay where they are. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[^]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' ')).replace(/(^|\s)\/\/.*$/gm, '$1')
}

/** Lint rules: layering, sizes, determinism and the mistakes that types do not catch. */
import { defineConfig, type OxlintConfig } from 'oxlint'
import {
  ADMIN_LAYERS,
  adminBansOf,
  BACKEND_LAYERS,
  backendBansOf,
  bansOf,
  LAYERS,
  PEER_BAN,
  SERVER_LAYERS,
  serverBansOf,
  SYNC_ROOMS,
  syncBansOf,
} from './tools/checks/layers.ts'
import type { ImportBan } from './tools/checks/layers.ts'

type Override = NonNullable<OxlintConfig['overrides']>[number]

const LINES_PER_FILE_MAX = 600
const LINES_PER_FUNCTION_MAX = 70

/** Files with functions longer than the limit. This list may only shrink. */
const LONG_FUNCTIONS: string[] = []

/** Time, chance and timers are passed in (base/environment.ts), so that a seed replays a whole run. */
const NONDETERMINISTIC_GLOBALS = ['setTimeout', 'setInterval', 'setImmediate', 'performance', 'requestIdleCallback']
const CHANCE_FUNCTIONS = ['randomBytes', 'randomFillSync', 'randomInt', 'randomUUID']
const NONDETERMINISTIC_PROPERTIES = [
  { object: 'Date', property: 'now' },
  { object: 'AbortSignal', property: 'timeout' },
  { object: 'Math', property: 'random' },
  ...['getRandomValues', ...CHANCE_FUNCTIONS].map((property) => ({ object: 'crypto', property })),
]
const FROM_ENVIRONMENT = 'Take it from the Environment.'
const NONDETERMINISTIC_IMPORTS = [
  ...['node:timers', 'node:timers/promises'].map((name) => ({ name, message: FROM_ENVIRONMENT })),
  { name: 'node:perf_hooks', importNames: ['performance'], message: FROM_ENVIRONMENT },
  ...['node:crypto', 'crypto'].map((name) => ({ name, importNames: CHANCE_FUNCTIONS, message: FROM_ENVIRONMENT })),
]
const REAL_PAUSES = ['setTimeout', 'setInterval']
const REAL_PAUSE_IMPORTS = ['node:timers', 'node:timers/promises'].map((name) => ({
  name,
  importNames: REAL_PAUSES,
  message: 'Use a virtual clock, or name the file ….real.test.ts.',
}))
/** What takes all that from the Environment. */
const DETERMINISTIC: readonly string[] = [
  'admin',
  'angular',
  'backend',
  'client',
  'db',
  'devtools',
  'jsonstore',
  'pocketbase',
  'postgres',
  'pouchdb',
  'react',
  'rules',
  'server',
  'solid',
  'sqlite-storage',
  'stores',
  'svelte',
  'tanstack-db',
  'vue',
].map((name) => `packages/${name}/src`)

/** What a test draws, `seededRandom` draws; what it names, it names itself: each run of a commit has the same inputs. */
const TEST_CHANCE = 'Take seededRandom, or a fixed name.'
const TEST_CHANCE_PROPERTIES = NONDETERMINISTIC_PROPERTIES.filter(
  ({ object }) => object === 'Math' || object === 'crypto',
).map((entry) => ({ ...entry, message: TEST_CHANCE }))
const TEST_CHANCE_IMPORTS = ['node:crypto', 'crypto'].map((name) => ({
  name,
  importNames: CHANCE_FUNCTIONS,
  message: TEST_CHANCE,
}))

function layerRules(folder: string, bans: readonly ImportBan[]): Override {
  const isDeterministic = DETERMINISTIC.some((one) => `${folder}/`.startsWith(`${one}/`))
  const paths = isDeterministic ? NONDETERMINISTIC_IMPORTS : []
  const patterns = [PEER_BAN, ...bans]
  return { files: [`${folder}/**`], rules: { 'no-restricted-imports': ['error', { paths, patterns }] } }
}

function determinismRules(folder: string): Override {
  return {
    files: [`${folder}/**`],
    rules: {
      // The rules of the layers say the same for their folders.
      'no-restricted-imports': ['error', { paths: NONDETERMINISTIC_IMPORTS, patterns: [PEER_BAN] }],
      'no-restricted-globals': [
        'error',
        {
          globals: NONDETERMINISTIC_GLOBALS.map((name) => ({ name, message: FROM_ENVIRONMENT })),
          checkGlobalObject: true,
        },
      ],
      'no-restricted-properties': [
        'error',
        ...NONDETERMINISTIC_PROPERTIES.map((entry) => ({ ...entry, message: FROM_ENVIRONMENT })),
      ],
    },
  }
}

export default defineConfig({
  plugins: ['eslint', 'typescript', 'import', 'unicorn', 'oxc', 'promise'],
  categories: { correctness: 'error' },
  options: { typeAware: true, reportUnusedDisableDirectives: 'error' },
  env: { builtin: true, browser: true, node: true },
  ignorePatterns: ['**/dist/**', 'packages/*/api/**', '**/golden/**'],
  rules: {
    'eslint/eqeqeq': 'error',
    'eslint/max-lines': ['error', { max: LINES_PER_FILE_MAX }],
    'eslint/max-lines-per-function': ['error', { max: LINES_PER_FUNCTION_MAX }],
    'eslint/no-restricted-imports': ['error', { patterns: [PEER_BAN] }],
    'eslint/no-unused-vars': ['error', { argsIgnorePattern: '^_', varsIgnorePattern: '^_' }],
    'eslint/no-var': 'error',
    'eslint/prefer-const': 'error',
    'import/no-cycle': ['error', { ignoreTypes: false }],
    'import/no-default-export': 'error',
    'typescript/consistent-type-imports': ['error', { fixStyle: 'inline-type-imports' }],
    'typescript/no-explicit-any': 'error',
    'typescript/no-floating-promises': 'error',
    'typescript/no-misused-promises': 'error',
    // Contracts are written as methods and implemented as closures too.
    'typescript/unbound-method': 'off',
    // `MaybePromise` calls back, and arrays are allocated at their size, on purpose.
    'promise/no-callback-in-promise': 'off',
    'unicorn/no-new-array': 'off',
    'unicorn/filename-case': ['error', { case: 'kebabCase' }],
  },
  overrides: [
    { files: ['packages/*/src/**'], rules: { 'eslint/no-console': 'error' } },
    ...DETERMINISTIC.map(determinismRules),
    ...LAYERS.map((layer) => layerRules(`packages/db/src/${layer}`, bansOf(layer))),
    ...BACKEND_LAYERS.map((layer) => layerRules(`packages/backend/src/${layer}`, backendBansOf(layer))),
    ...SYNC_ROOMS.map((room) => layerRules(`packages/backend/src/sync/${room}`, syncBansOf(room))),
    ...SERVER_LAYERS.map((layer) => layerRules(`packages/server/src/${layer}`, serverBansOf(layer))),
    ...ADMIN_LAYERS.map((layer) => layerRules(`packages/admin/src/${layer}`, adminBansOf(layer))),
    {
      // The real environment; and keys and nonces, none of which a test may make come again.
      files: ['packages/db/src/database/{lifecycle/environment,encryption/*-platform}.ts'],
      rules: { 'no-restricted-globals': 'off', 'no-restricted-imports': 'off', 'no-restricted-properties': 'off' },
    },
    {
      // A time-out while opening is a matter between this backend and its engine.
      files: ['packages/db/src/storage/indexeddb/**'],
      rules: { 'no-restricted-globals': 'off' },
    },
    {
      // Workers of several tabs tell one another apart, and from frozen ones. The file logic is given what it needs of this.
      files: ['packages/db/src/storage/opfs/{access-files,host,opfs,ownership}.ts'],
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      // The two entries of the admin page: what makes its environment, and the worker that knows only its own files.
      files: ['packages/admin/src/{main.tsx,service-worker.ts}'],
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      // What another thread runs, and the signs of life that it looks for: both by the time that passes.
      files: ['packages/server/src/hooks/watchdog.ts', 'packages/server/src/sandbox/program.ts'],
      rules: { 'no-restricted-globals': 'off', 'no-restricted-properties': 'off' },
    },
    {
      // PocketBase's code has Go's clock, chance and libraries of cryptography.
      files: ['packages/pocketbase/src/thread/**'],
      rules: { 'no-restricted-imports': 'off', 'no-restricted-properties': 'off' },
    },
    {
      // Suites and tables are long without being hard to read.
      files: ['**/test/**', '**/testing/**', '**/*.test.ts'],
      rules: {
        'eslint/max-lines': 'off',
        'eslint/max-lines-per-function': 'off',
        'no-restricted-imports': ['error', { paths: TEST_CHANCE_IMPORTS, patterns: [PEER_BAN] }],
        'no-restricted-properties': ['error', ...TEST_CHANCE_PROPERTIES],
      },
    },
    {
      // Its packages may be missing (`npm ci` does not install them), and what is of an unknown type makes each union redundant.
      files: ['bench/**'],
      rules: { 'no-restricted-imports': 'off', 'typescript/no-redundant-type-constituents': 'off' },
    },
    {
      files: [
        'packages/*/test/{differential,clients}/**',
        'packages/db/test/storage/*level*.ts',
        'packages/server/{test,testing}/**',
      ],
      rules: { 'no-restricted-imports': ['error', { paths: TEST_CHANCE_IMPORTS }] },
    },
    {
      // What waits for nothing but a clock belongs to the lane real, or to a virtual clock.
      files: ['**/*.wired.test.ts'],
      rules: {
        'no-restricted-globals': ['error', ...REAL_PAUSES],
        'no-restricted-imports': ['error', { paths: [...TEST_CHANCE_IMPORTS, ...REAL_PAUSE_IMPORTS] }],
      },
    },
    {
      // The adapter is made of PouchDB's own parts, and its tests of PouchDB.
      files: ['packages/pouchdb/src/**'],
      rules: { 'no-restricted-imports': ['error', { paths: NONDETERMINISTIC_IMPORTS }] },
    },
    {
      files: ['packages/pouchdb/test/**'],
      rules: { 'no-restricted-imports': ['error', { paths: TEST_CHANCE_IMPORTS }] },
    },
    { files: ['*.config.ts', 'tools/test/results-reporter.ts'], rules: { 'import/no-default-export': 'off' } },
    {
      files: LONG_FUNCTIONS.length > 0 ? LONG_FUNCTIONS : ['no-such-file'],
      rules: { 'eslint/max-lines-per-function': 'off' },
    },
  ],
})

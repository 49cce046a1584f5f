/** `npm test`: sets up what is missing, then runs all checks and tests. `npm test -- --help` tells how to select some. */
import { installBrowsers, installDependencies, installPeers, runWithNode } from './setup.mjs'

const parameters = process.argv.slice(2)
const selected = parameters.find((parameter) => parameter.startsWith('--only='))

await installDependencies()
if (parameters.some((parameter) => /^--lanes?=.*\breal\b/.test(parameter))) await installPeers()
if (!parameters.includes('--help') && (selected === undefined || selected.includes('browser'))) await installBrowsers()
runWithNode(['tools/test/main.ts', ...parameters])

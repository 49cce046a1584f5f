/**
 * Runs a script or an installed program with a current Node: `node tools/run.mjs [--peers] PATH [ARGUMENTS]`. `--peers` installs the
 * packages of bench first.
 */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { installDependencies, installPeers, root, runWithNode } from './setup.mjs'

const wantsPeers = process.argv[2] === '--peers'
const [path = '', ...parameters] = process.argv.slice(wantsPeers ? 3 : 2)

await installDependencies()
if (wantsPeers) await installPeers()
runWithNode([realpathSync(join(root, path)), ...parameters])

/** Runs a script or an installed program with a current Node: `node tools/run.mjs PATH [ARGUMENTS]`. */
import { realpathSync } from 'node:fs'
import { join } from 'node:path'
import { installDependencies, root, runWithNode } from './setup.mjs'

const [path = '', ...parameters] = process.argv.slice(2)

await installDependencies()
runWithNode([realpathSync(join(root, path)), ...parameters])

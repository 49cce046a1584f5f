/** `npm start`: sets up what is missing, then runs the demo. Arguments are passed on (`npm start -- --help`). */
import { installDependencies, runWithNode } from './setup.mjs'

await installDependencies()
runWithNode(['demo/start.ts', ...process.argv.slice(2)])

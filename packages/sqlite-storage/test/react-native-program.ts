/** The suites in the surroundings of React Native: `node program.mjs FOLDER expo|op`. Its last line is JSON, the outcome. */
import './react-native-surroundings.ts'
import { argv } from 'node:process'
import { expoSqlite, opSqlite } from '../src/index.ts'
import { runSuites } from './run-suites.ts'
import { expoShape, opShape } from './shapes.ts'

const [, , folder = '', kind] = argv
const storage = kind === 'expo' ? expoSqlite(expoShape(folder)) : opSqlite(opShape(folder))
console.log(JSON.stringify(await runSuites(storage, '', { webCrypto: true, fetch: true, transformStream: true })))

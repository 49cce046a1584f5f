/** The entry of the single executable file: the program `pannier`, or one of the programs that it starts beside itself. */
import { getAsset } from 'node:sea'
import { compileFunction } from 'node:vm'
import { programOfProcess } from '@pannier/backend/internal'
import { runProgram } from '@pannier/server/cli'

const program = programOfProcess()
if (program === undefined) void runProgram(process.argv.slice(2)).then((code) => (process.exitCode = code))
else {
  // It finds its arguments where it has them as a file.
  process.argv.splice(2, 1)
  compileFunction(getAsset(program, 'utf8'), ['require'])(require)
}

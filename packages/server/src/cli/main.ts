#!/usr/bin/env node
/** The program `pannier`. */
import { runProgram } from './program.ts'

process.exitCode = await runProgram(process.argv.slice(2))

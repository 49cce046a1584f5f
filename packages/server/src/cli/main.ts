#!/usr/bin/env node
/** The program `pannier`. */
import { readFileSync } from 'node:fs'
import { runCli } from './run.ts'
import { processTerminal } from './terminal.ts'

const manifest = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }

process.exitCode = await runCli(process.argv.slice(2), processTerminal(), manifest.version)

#!/usr/bin/env node
/**
 * The command `pannier`. The server and its tools are a package of their own, `@pannier/server`, so that the library brings nothing
 * along: it is taken from where it is installed, else fetched in the same version (so `npx pannier serve` works anywhere).
 */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'

const NODE_MIN = [22, 13]

const parameters = process.argv.slice(2)

if (isOldNode()) {
  console.error(
    `pannier needs Node ${NODE_MIN.join('.')} or newer (24 is best); this is ${process.version}. Update Node, then try again.`,
  )
  process.exitCode = 1
} else if (isInstalled()) {
  const { runProgram } = await import('@pannier/server/cli')
  process.exitCode = await runProgram(parameters)
} else fetchAndRun()

function isOldNode() {
  const [major, minor] = process.versions.node.split('.').map(Number)
  return major < NODE_MIN[0] || (major === NODE_MIN[0] && minor < NODE_MIN[1])
}

function isInstalled() {
  try {
    import.meta.resolve('@pannier/server/cli')
    return true
  } catch {
    return false
  }
}

function fetchAndRun() {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  const program = process.platform === 'win32' ? 'npm.cmd' : 'npm'
  const fetched = ['exec', '--yes', `--package=@pannier/server@${version}`, '--', 'pannier-server', ...parameters]
  const child = spawn(program, fetched, { stdio: 'inherit', shell: process.platform === 'win32' })
  // Ctrl-C reaches the child too; it ends in its own way.
  for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {})
  child.on('error', (error) => {
    console.error(`npm can't be run: ${error.message}`)
    process.exitCode = 1
  })
  child.on('exit', (code) => {
    process.exitCode = code ?? 1
  })
}

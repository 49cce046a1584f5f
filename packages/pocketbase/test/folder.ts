/** Writes a project into a folder. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { FILES } from './cases.ts'
import type { Case } from './project.ts'

export function writeProject(folder: string, cases: readonly Case[]): void {
  const files = { ...FILES, ...Object.fromEntries(cases.map(({ name, hooks }) => [`${name}.pb.js`, hooks])) }
  // As an app of Vite has around it.
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }')
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'pb_hooks', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
  }
}

export function writeMigrations(folder: string, migrations: Readonly<Record<string, string>>): void {
  mkdirSync(join(folder, 'pb_migrations'), { recursive: true })
  for (const [name, text] of Object.entries(migrations)) writeFileSync(join(folder, 'pb_migrations', name), text)
}

/** Fauxton as it is built for npm: fetched once, checked, and unpacked. Only the ready pages are wanted, none of its 1,300 dependencies. */
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'

const VERSION = '1.2.6'
const SHA512 = '5ZwPKqstwmQclSHifWBmbyzlBOLoBB3gssGaiEFLPcIzHO0Zxz+uPr/D/Fs6DGH7Hfohw7s6zqcjwU9CRcshfw=='
const CACHE = join(import.meta.dirname, '../../../node_modules/.cache')

const run = promisify(execFile)

/** The folder of its pages. */
export async function fauxtonPages(): Promise<string> {
  const folder = join(CACHE, `fauxton-${VERSION}`)
  const pages = join(folder, 'package/dist/release')
  if (existsSync(pages)) return pages
  await mkdir(CACHE, { recursive: true })
  const making = await mkdtemp(join(CACHE, 'fauxton-'))
  try {
    await run('npm', ['pack', `fauxton@${VERSION}`, '--silent'], { cwd: making })
    const archive = join(making, `fauxton-${VERSION}.tgz`)
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64')
    if (digest !== SHA512) throw new Error(`fauxton-${VERSION}.tgz has another content: ${digest}`)
    await run('tar', ['-xzf', archive, '-C', making, 'package/dist/release'])
    // Another process may have been faster.
    await rename(making, folder).catch(() => {})
    return pages
  } finally {
    await rm(making, { recursive: true, force: true })
  }
}

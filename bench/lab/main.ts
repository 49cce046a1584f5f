/** `npm run lab`: serves the lab page, or writes it as files that any web server can serve. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { makeAssets } from './node/assets.ts'
import { HEADERS } from './node/headers.ts'
import { serveLab } from './node/server.ts'

const PORT = 4180
const USAGE = `Usage: npm run lab [-- OPTIONS]

Serves a page in which everybody measures databases in their own browser.

  --port N      the first port to try (default ${PORT})
  --build DIR   write the page as files instead; DIR/_headers has the headers that it should be served with
  --help        print this`

await main()

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { port: { type: 'string' }, build: { type: 'string' }, help: { type: 'boolean', default: false } },
  })
  if (values.help) return console.log(USAGE)
  const port = Number(values.port ?? PORT)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    console.error(`${values.port} is not a port.\n\n${USAGE}`)
    process.exitCode = 2
    return
  }
  const assets = await makeAssets()
  if (values.build === undefined) {
    const { url } = await serveLab(assets, port)
    return console.log(`The lab: ${url}\nCtrl+C stops the server.`)
  }
  await mkdir(values.build, { recursive: true })
  for (const [name, { body }] of assets) await writeFile(join(values.build, name), body)
  await writeFile(join(values.build, '_headers'), headersFile())
  console.log(
    `${assets.size + 1} files are in ${values.build}. Without the headers in _headers the page gets a coarse clock.`,
  )
}

/** As several hosts of static pages read it. */
function headersFile(): string {
  return `/*\n${Object.entries(HEADERS)
    .map(([name, value]) => `  ${name}: ${value}\n`)
    .join('')}`
}

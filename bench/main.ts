/**
 * `npm run bench`: measures Pannier beside its peers in every installed engine, and writes result files and a report.
 * It writes the measured figures even if it is interrupted.
 */
import { optionsOrUsage, readOptions, USAGE } from './options.ts'

await main()

async function main(): Promise<void> {
  const parameters = process.argv.slice(2)
  if (parameters.includes('--bars')) {
    process.argv = [...process.argv.slice(0, 2), ...parameters.filter((parameter) => parameter !== '--bars')]
    await import('./bars/run.ts')
    return
  }
  if (parameters[0] === 'first-rows') {
    const { main: firstRows } = await import('./first-rows/main.ts')
    return firstRows(parameters.slice(1))
  }
  if (parameters[0] === 'relations') {
    const { main: relations } = await import('./relations/main.ts')
    return relations(parameters.slice(1))
  }
  if (parameters[0] === 'pocketbase') {
    const { main: pocketbase } = await import('./pocketbase/main.ts')
    return pocketbase(parameters.slice(1))
  }
  if (parameters[0] === 'postgres') {
    const { main: postgres } = await import('./postgres/main.ts')
    return postgres(parameters.slice(1))
  }
  if (parameters[0] === 'sync') {
    const { main: sync } = await import('./ruled-sync/main.ts')
    return sync(parameters.slice(1))
  }
  if (parameters[0] === 'admin') {
    const { main: admin } = await import('./admin/main.ts')
    return admin(parameters.slice(1))
  }
  const options = optionsOrUsage(USAGE, () => readOptions(parameters))
  if (options === undefined) return
  const { run } = await import('./run.ts')
  await run(options)
}

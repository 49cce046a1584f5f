import { test } from 'vitest'
import { simulateDatabase } from '../testing/database-crash-simulation.ts'
import { soloCoordinator } from './kv/solo-coordinator.ts'
test('x', async () => { const s = JSON.parse(process.env['SIM']!); await simulateDatabase({ ...s, coordinator: soloCoordinator }) }, 60000)

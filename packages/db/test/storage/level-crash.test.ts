/**
 * Goal: nothing acknowledged is lost and nothing is half applied, whichever call of the abstract-level database fails and however.
 * Method: the crash simulations of key-value stores and of databases, one layer further down (simulated-level.ts).
 */
import { describe } from 'vitest'
import type { Simulation } from '../../testing/crash-host.ts'
import { simulate } from '../../testing/crash-simulation.ts'
import { simulateDatabase } from '../../testing/database-crash-simulation.ts'
import { randomCalls } from '../crash-cases.ts'
import { SimulatedLevels } from './simulated-level.ts'

const callsMax = [20, 60, 150]

function onLevels(run: (simulation: Simulation) => Promise<number>): (simulation: Simulation) => Promise<number> {
  return (simulation) => run({ ...simulation, place: (options) => new SimulatedLevels(options) })
}

describe('key-value store', () => randomCalls(onLevels(simulate), { seeds: 60, callsMax }))
describe('database', () => randomCalls(onLevels(simulateDatabase), { seeds: 20, callsMax }))

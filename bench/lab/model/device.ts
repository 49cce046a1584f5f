/** Facts of a device that a page can find out. */
import type { Place } from '../../contenders/catalog.ts'
import { makePerson } from '../../documents.ts'
import type { Environment } from '../../harness/environment.ts'

/** Versions of the contenders when the page was built. */
declare const LAB_VERSIONS: Readonly<Record<string, string>>

interface NavigatorFacts {
  readonly deviceMemory?: number
  readonly userAgentData?: { readonly platform?: string; readonly mobile?: boolean }
}

export function thisPlace(agent: string = navigator.userAgent): Place {
  if (agent.includes('Firefox')) return 'firefox'
  return agent.includes('Chrome') ? 'chromium' : 'webkit'
}

export function recordDevice(seed: number): Environment {
  const { userAgent: agent, hardwareConcurrency } = navigator
  const { deviceMemory = 0, userAgentData } = navigator as NavigatorFacts
  const sample = makePerson({ documents: 1, seed, ids: 'random' }, 0)
  const system = userAgentData?.platform ?? /\(([^)]*)\)/.exec(agent)?.[1] ?? 'unknown'
  return {
    place: thisPlace(agent),
    agent,
    engineVersion: /(?:Chrome|Firefox|Version)\/([\d.]+)/.exec(agent)?.[1] ?? 'unknown',
    features: [],
    processor: 'not told by browsers',
    cores: hardwareConcurrency || 1,
    // Browsers that report it round to a power of two, at most about 8 GiB.
    memoryBytes: deviceMemory * 2 ** 30,
    system: userAgentData?.mobile === true ? `${system}, mobile` : system,
    document: { bytes: JSON.stringify(sample).length, sample },
    seed,
    versions: LAB_VERSIONS,
    reopened: true,
  }
}

/** The clock's steps: pages that are not isolated from others get coarse ones. */
export function clockStepMs(): number {
  let step = Infinity
  for (let turn = 0; turn < 20; turn++) {
    const start = performance.now()
    let now = start
    while (now === start) now = performance.now()
    step = Math.min(step, now - start)
  }
  return step
}

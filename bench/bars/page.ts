/** The entry of the page: runs the phase that its query string asks for and reports. */
import { opfs } from 'pannier/opfs'
import { done, failed } from '../../tools/browser/page/report.ts'
import { indexedDbContender } from './contenders/indexed-db.ts'
import { pannierContender } from './contenders/pannier.ts'
import { runPhase } from './phase.ts'
import type { PhaseRequest, Profiler } from './phase.ts'

/** Put there by profile.ts when it drives the page. */
declare const startProfile: Profiler['start']
declare const stopProfile: Profiler['stop']

try {
  const request = JSON.parse(new URLSearchParams(location.search).get('request')!) as PhaseRequest
  const storage = request.storage === 'opfs' ? opfs() : undefined
  const contender = request.contender === 'pannier' ? pannierContender(storage) : indexedDbContender()
  const profiler: Profiler | undefined =
    request.profile === undefined ? undefined : { start: () => startProfile(), stop: () => stopProfile() }
  await done(await runPhase(contender, request, profiler))
} catch (error) {
  await failed(error)
}

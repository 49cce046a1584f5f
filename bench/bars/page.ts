/** The entry of the page: runs the phase that its query string asks for and reports. */
import { opfs } from 'pannier/opfs'
import { done, failed, quit } from '../../tools/browser/page/report.ts'
import { indexedDbContender } from './contenders/indexed-db.ts'
import { encryptedPannierContender, pannierContender } from './contenders/pannier.ts'
import { runPhase } from './phase.ts'
import type { PhaseRequest, Profiler } from './phase.ts'

/** Put there by profile.ts when it drives the page. */
declare const startProfile: Profiler['start']
declare const stopProfile: Profiler['stop']

try {
  const request = JSON.parse(new URLSearchParams(location.search).get('request')!) as PhaseRequest
  const { contender: name, storage } = request
  const rival = name === 'pannier-encrypted' ? encryptedPannierContender : indexedDbContender
  const contender = name === 'pannier' ? pannierContender(storage === 'opfs' ? opfs() : undefined) : await rival()
  const profiler: Profiler | undefined =
    request.profile === undefined ? undefined : { start: () => startProfile(), stop: () => stopProfile() }
  await done(await runPhase(contender, request, profiler))
  quit()
} catch (error) {
  await failed(error)
}

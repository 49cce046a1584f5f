/** The entry of the page: measures Pannier as its query string asks for, and reports. */
import { done, failed, quit } from '../../tools/browser/page/report.ts'
import { measureRelations, type RelationsRequest } from './measure.ts'
import { PannierContender } from './pannier.ts'

try {
  const request = JSON.parse(new URLSearchParams(location.search).get('request')!) as RelationsRequest
  await done(await measureRelations(new PannierContender(), request))
  quit()
} catch (error) {
  await failed(error)
}

/** Prints what to do next: open the page, or use the same data with curl and PouchDB. */
import { styleText } from 'node:util'
import { log } from '@clack/prompts'
import { COLLECTION } from '../shared/city.ts'
import type { CityServer } from './server.ts'

export function printWhatNext({ url, pageUrl, adminUrl, setupUrl }: CityServer): void {
  const cities = `${url}/${COLLECTION}`
  const title = (text: string): string => styleText('bold', text)
  log.step(
    `${title('Open this in a browser:')} ${pageUrl}\nIt makes a copy of the cities there and keeps both in step, also after being offline.`,
  )
  log.step(
    `${title('A team that works offline, with rules:')} ${pageUrl}team/\n` +
      'Open two windows, take one offline, and change things in both. It uses @pannier/client.',
  )
  log.step(
    `${title('The same screens in five frameworks:')} ${pageUrl}frameworks/\n` +
      'React, Vue, Svelte, Solid and Angular share a database of this browser. Open two of them beside each other.',
  )
  log.step(
    `${title('An application with users and rules:')} ${pageUrl}tasks/\n` +
      `It has 100,000 tasks of 20 teams, and uses PocketBase’s SDK: new PocketBase('${url}')`,
  )
  log.step(`${title('The admin page:')} ${adminUrl}\nA superuser sees and edits the records there.`)
  log.step(
    [
      title('The server speaks CouchDB’s HTTP API'),
      `curl ${cities}/2657896`,
      `curl '${cities}/_changes?descending=true&limit=3'`,
      `curl ${cities}/_find -H 'content-type: application/json' -d '{ "selector": { "country": "CH" }, "limit": 3 }'`,
      `new PouchDB('cities').sync('${cities}', { live: true, retry: true })`,
      styleText('dim', 'It can be reached from this machine only, where anybody may read and change the cities.'),
    ].join('\n'),
  )
  if (setupUrl === undefined) return
  log.warn(
    `${title('Make the superuser within 30 minutes:')} ${setupUrl}\n` +
      'All else on the server is the superuser’s, until it is opened to others:\n' +
      `curl -u EMAIL:PASSWORD ${url}/_all_dbs`,
  )
}

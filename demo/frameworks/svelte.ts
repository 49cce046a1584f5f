/** The page in Svelte. */
import { mount } from 'svelte'
import Team from './team.svelte'

mount(Team, { target: document.body.appendChild(document.createElement('main')) })

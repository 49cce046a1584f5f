/** The page in Vue. */
import { createApp } from 'vue'
import Team from './team.vue'

createApp(Team).mount(document.body.appendChild(document.createElement('main')))

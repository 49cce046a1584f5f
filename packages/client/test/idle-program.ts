/** A program that connects to an address where nobody is, writes, and does not close the client. The process must end by itself. */
import { memory } from 'pannier/memory'
import { connect } from '../src/index.ts'

const client = await connect('http://127.0.0.1:9', { storage: memory(), collections: ['tasks'] })
await client.collection('tasks').create({ title: 'waits' })
await client.sync().catch(() => {})
console.log('unsent:', client.state.unsent)

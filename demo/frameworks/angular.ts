/** The page in Angular. It compiles its template itself. */
import '@angular/compiler'
import { Component, signal } from '@angular/core'
import { bootstrapApplication } from '@angular/platform-browser'
import { injectCount, injectDocument, injectDraft, injectLiveQuery, liveSearch } from '@pannier/angular'
import { add, db, openTasks, tasks } from './tasks.ts'

@Component({
  selector: 'main',
  template: `
    <select id="person" #who (input)="person.set(who.value)">
      <option>Ann</option>
      <option>Ben</option>
    </select>
    <p id="count">{{ open.count() }} open, {{ list.status() }}</p>
    <ul id="tasks">
      @for (row of list.rows(); track row._id) {
        <li>
          <span (click)="id.set(row._id)">{{ row.title }}</span>
          <button (click)="finish(row._id)">Done</button>
        </li>
      }
    </ul>
    <input id="title" placeholder="New task" #title />
    <button id="add" (click)="addTask(title)">Add</button>
    <input id="rename" placeholder="Select a task to rename it" #name [value]="form.draft()?.title ?? ''" (input)="form.change({ title: name.value })" />
    <input id="search" placeholder="Search" #words (input)="text.set(words.value)" />
    <p id="found">{{ titles() }}</p>
  `,
})
class Team {
  readonly person = signal('Ann')
  readonly text = signal('')
  readonly id = signal<string | undefined>(undefined)
  readonly list = injectLiveQuery(() => openTasks(this.person()))
  readonly open = injectCount(tasks.find({ done: false }))
  readonly found = injectLiveQuery(() => liveSearch(db, tasks, this.text()))
  readonly task = injectDocument(tasks, this.id)
  readonly form = injectDraft(this.task.document, (fields, id) => tasks.update(id, fields))

  titles(): string {
    return this.found
      .rows()
      .map(({ title }) => title)
      .join()
  }

  async addTask(input: HTMLInputElement): Promise<void> {
    await add(input.value, this.person())
    input.value = ''
  }

  async finish(id: string): Promise<void> {
    await tasks.update(id, { done: true })
  }
}

document.body.appendChild(document.createElement('main'))
await bootstrapApplication(Team)

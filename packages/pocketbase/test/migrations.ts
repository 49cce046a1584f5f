/** Kinds of migrations, as PocketBase writes and documents them: each a file, in order. */

const RULES = `listRule: '', viewRule: '', createRule: '', updateRule: '', deleteRule: ''`

export const MIGRATIONS: Readonly<Record<string, string>> = {
  '1700000001_created_articles.js': `/// <reference path="../pb_data/types.d.ts" />
migrate((app) => {
  const collection = new Collection({
    "createRule": null, "deleteRule": null, "listRule": "", "viewRule": "", "updateRule": null,
    "fields": [
      { "autogeneratePattern": "[a-z0-9]{15}", "hidden": false, "id": "text3208210256", "max": 15, "min": 15, "name": "id", "pattern": "^[a-z0-9]+$", "presentable": false, "primaryKey": true, "required": true, "system": true, "type": "text" },
      { "autogeneratePattern": "", "hidden": false, "id": "text724990059", "max": 0, "min": 0, "name": "title", "pattern": "", "presentable": false, "primaryKey": false, "required": false, "system": false, "type": "text" },
      { "hidden": false, "id": "autodate2990389176", "name": "created", "onCreate": true, "onUpdate": false, "presentable": false, "system": false, "type": "autodate" }
    ],
    "id": "pbc_4287850865", "indexes": [], "name": "articles", "system": false, "type": "base"
  });
  return app.save(collection);
}, (app) => {
  const collection = app.findCollectionByNameOrId("pbc_4287850865");
  return app.delete(collection);
})
`,
  '1700000002_updated_articles.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("pbc_4287850865")
  // add field
  collection.fields.addAt(2, new Field({ "hidden": false, "id": "number1261852256", "max": null, "min": null, "name": "stock", "onlyInt": false, "presentable": false, "required": false, "system": false, "type": "number" }))
  // update field
  collection.fields.addAt(1, new Field({ "autogeneratePattern": "", "hidden": false, "id": "text724990059", "max": 200, "min": 0, "name": "title", "pattern": "", "presentable": true, "primaryKey": false, "required": true, "system": false, "type": "text" }))
  return app.save(collection)
}, (app) => {
  const collection = app.findCollectionByNameOrId("pbc_4287850865")
  collection.fields.removeById("number1261852256")
  return app.save(collection)
})
`,
  '1700000003_rules.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("articles")
  unmarshal({ "createRule": "@request.auth.id != ''", "updateRule": "title != ''" }, collection)
  return app.save(collection)
}, (app) => {
  const collection = app.findCollectionByNameOrId("articles")
  unmarshal({ "createRule": null }, collection)
  return app.save(collection)
})
`,
  '1700000004_index.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("articles")
  collection.addIndex("idx_articles_title", true, "title", "")
  app.save(collection)
}, (app) => {
  const collection = app.findCollectionByNameOrId("articles")
  collection.removeIndex("idx_articles_title")
  app.save(collection)
})
`,
  '1700000005_records.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("articles")
  for (const [title, stock] of [["first", 1], ["second", 2], ["third", 3]]) {
    const record = new Record(collection)
    record.set("title", title)
    record.set("stock", stock)
    app.save(record)
  }
}, (app) => {
  for (const record of app.findAllRecords("articles")) app.delete(record)
})
`,
  '1700000006_field_classes.js': `migrate((app) => {
  const collection = new Collection({ name: "kinds", type: "base", ${RULES} })
  collection.fields.add(new TextField({ name: "text", required: true, max: 50 }))
  collection.fields.add(new NumberField({ name: "number", min: 1, max: 9, onlyInt: true }))
  collection.fields.add(new BoolField({ name: "bool" }))
  collection.fields.add(new EmailField({ name: "email", onlyDomains: ["example.org"] }))
  collection.fields.add(new URLField({ name: "url" }))
  collection.fields.add(new DateField({ name: "date" }))
  collection.fields.add(new SelectField({ name: "select", maxSelect: 2, values: ["a", "b", "c"] }))
  collection.fields.add(new JSONField({ name: "json", maxSize: 1000 }))
  collection.fields.add(new EditorField({ name: "editor" }))
  collection.fields.add(new FileField({ name: "file", maxSelect: 3, mimeTypes: ["image/png"], thumbs: ["100x100"] }))
  collection.fields.add(new GeoPointField({ name: "place" }))
  collection.fields.add(new AutodateField({ name: "updated", onCreate: true, onUpdate: true }))
  app.save(collection)
}, (app) => app.delete(app.findCollectionByNameOrId("kinds")))
`,
  '1700000007_relation.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("kinds")
  collection.fields.add(new RelationField({ name: "article", collectionId: app.findCollectionByNameOrId("articles").id, maxSelect: 1, cascadeDelete: true }))
  app.save(collection)
}, (app) => {
  const collection = app.findCollectionByNameOrId("kinds")
  collection.fields.removeByName("article")
  app.save(collection)
})
`,
  '1700000008_change_field.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("kinds")
  const field = collection.fields.getByName("text")
  field.max = 80
  field.required = false
  collection.fields.getByName("bool").name = "isOn"
  app.save(collection)
}, (app) => {
  const collection = app.findCollectionByNameOrId("kinds")
  collection.fields.getByName("isOn").name = "bool"
  app.save(collection)
})
`,
  '1700000009_rename.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("kinds")
  collection.name = "sorts"
  app.save(collection)
}, (app) => {
  const collection = app.findCollectionByNameOrId("sorts")
  collection.name = "kinds"
  app.save(collection)
})
`,
  '1700000010_auth.js': `migrate((app) => {
  const collection = new Collection({ type: "auth", name: "members", listRule: "id = @request.auth.id", passwordAuth: { enabled: true, identityFields: ["email"] } })
  collection.fields.add(new TextField({ name: "nickname" }))
  app.save(collection)
}, (app) => app.delete(app.findCollectionByNameOrId("members")))
`,
  '1700000011_account.js': `migrate((app) => {
  const record = new Record(app.findCollectionByNameOrId("members"))
  record.set("email", "member@example.org")
  record.set("password", "1234567890")
  record.set("nickname", "mem")
  record.setVerified(true)
  app.save(record)
}, (app) => {
  try { app.delete(app.findAuthRecordByEmail("members", "member@example.org")) } catch { /* it is gone already */ }
})
`,
  '1700000012_superuser.js': `migrate((app) => {
  const superusers = app.findCollectionByNameOrId("_superusers")
  const record = new Record(superusers)
  record.set("email", "made@example.org")
  record.set("password", "1234567890")
  app.save(record)
}, (app) => {
  try { app.delete(app.findAuthRecordByEmail("_superusers", "made@example.org")) } catch {}
})
`,
  '1700000013_settings.js': `migrate((app) => {
  const settings = app.settings()
  settings.meta.appName = "Migrated"
  settings.meta.hideControls = true
  settings.logs.maxDays = 2
  app.save(settings)
}, (app) => {})
`,
  '1700000014_view.js': `migrate((app) => {
  const collection = new Collection({ type: "view", name: "stocks", listRule: "", viewQuery: "SELECT id, title, (stock * 2) as twice FROM articles" })
  app.save(collection)
}, (app) => app.delete(app.findCollectionByNameOrId("stocks")))
`,
  '1700000015_import.js': `migrate((app) => {
  app.importCollections([
    { name: "imported1", type: "base", fields: [{ name: "title", type: "text" }] },
    { name: "imported2", type: "base", listRule: "", fields: [{ name: "number", type: "number", min: 1 }] },
  ], false)
}, (app) => {
  for (const name of ["imported1", "imported2"]) app.delete(app.findCollectionByNameOrId(name))
})
`,
  '1700000016_snapshot.js': `migrate((app) => {
  const snapshot = [{ "id": "pbc_1111111111", "name": "snapped", "type": "base", "system": false, "listRule": null, "viewRule": null, "createRule": null, "updateRule": null, "deleteRule": null, "indexes": ["CREATE INDEX \`idx_snapped\` ON \`snapped\` (\`title\`)"], "fields": [
    { "autogeneratePattern": "[a-z0-9]{15}", "hidden": false, "id": "text3208210256", "max": 15, "min": 15, "name": "id", "pattern": "^[a-z0-9]+$", "presentable": false, "primaryKey": true, "required": true, "system": true, "type": "text" },
    { "hidden": false, "id": "text724990059", "name": "title", "type": "text" }
  ] }];
  return app.importCollectionsByMarshaledJSON(JSON.stringify(snapshot), false);
}, (app) => {
  return null;
})
`,
  '1700000017_change_records.js': `migrate((app) => {
  const records = app.findRecordsByFilter("articles", "stock > 1", "title", 0, 0)
  for (const record of records) {
    record.set("title", record.get("title") + "!")
    app.save(record)
  }
}, (app) => {})
`,
  '1700000018_delete_record.js': `migrate((app) => {
  const record = app.findFirstRecordByData("articles", "title", "first")
  app.delete(record)
}, (app) => {})
`,
  '1700000019_sql.js': `migrate((app) => {
  app.db().newQuery("UPDATE articles SET stock = stock + 10 WHERE title LIKE {:text}").bind({ text: "second%" }).execute()
}, (app) => {
  app.db().newQuery("UPDATE articles SET stock = stock - 10 WHERE title LIKE 'second%'").execute()
})
`,
  '1700000020_condition.js': `migrate((app) => {
  try {
    app.findCollectionByNameOrId("missing")
  } catch {
    const collection = app.findCollectionByNameOrId("imported1")
    collection.listRule = "title != ''"
    collection.fields.add(new BoolField({ name: "extra" }))
    app.save(collection)
  }
})
`,
  '1700000021_delete_collection.js': `migrate((app) => {
  app.delete(app.findCollectionByNameOrId("imported2"))
}, (app) => {
  app.save(new Collection({ name: "imported2", type: "base", fields: [{ name: "number", type: "number" }] }))
})
`,
  '1700000022_auth_options.js': `migrate((app) => {
  const collection = app.findCollectionByNameOrId("members")
  collection.authAlert.enabled = false
  collection.otp.enabled = true
  collection.otp.length = 6
  collection.authToken.duration = 3600
  collection.passwordAuth.identityFields = ["email"]
  collection.authRule = "verified = true"
  app.save(collection)
}, (app) => {
  const collection = app.findCollectionByNameOrId("members")
  collection.otp.enabled = false
  app.save(collection)
})
`,
}

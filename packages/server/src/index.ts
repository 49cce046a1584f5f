/** `@pannier/server`: CouchDB's HTTP API and replication on an embedded Pannier database. */
export {}

// What `@pannier/server/cli` offers. Written by `npm run api`.


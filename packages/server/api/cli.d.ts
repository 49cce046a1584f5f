// What `@pannier/server/cli` offers. Written by `npm run api`.

export function runProgram(parameters: readonly string[]): Promise<number>;

// What `@pannier/pocketbase` offers. Written by `npm run api`.

/** The functions that bind handlers: those that a hook file of Pannier gets, as `Hooks` of `@pannier/server`. */
export interface HookBinders {
    /** Adds a route. */
    routerAdd(method: string, path: string, handler: Handler, ...middlewares: readonly Handler[]): void;
    /** Uses a middleware around all requests. */
    routerUse(handler: Handler): void;
    /** Adds a job. */
    cronAdd(id: string, expression: string, run: () => unknown): void;
    /** Middlewares of the server. */
    readonly apis: object;
    /** The class of errors with a status. */
    readonly ApiError: new (status: number, message?: string, data?: never) => Error;
}

/** Hooks that are bound. */
export interface PocketBaseHooks {
    /** Ends the threads, each when its handler has ended. */
    close(): Promise<void>;
}

/**
 * Runs the files of a folder, and binds what they register. Handlers run in threads, where calls of the application wait.
 *
 * @throws Error with the file and the line of what is wrong, or is not there on Pannier
 */
export function bindPocketBaseHooks(folder: string, hooks: HookBinders, backend: Backend): Promise<PocketBaseHooks>;

/** Gives the steps of a file, which run on the backend. @throws Error with the line of the file */
export function pocketBaseSteps(backend: Backend, hooksFolder: string): (file: string) => MigrationSteps;

type Handler = (event: object) => unknown;

/** The two functions of a file. */
interface MigrationSteps {
    up(): Promise<void>;
    down(): Promise<void>;
}

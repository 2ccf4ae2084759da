declare const SHELL: string;
declare const FILES: string[];

declare const SHELL: string;
declare const FILES: string[];
declare const NEEDED: string[];
